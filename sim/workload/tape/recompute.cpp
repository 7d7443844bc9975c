// Activation recomputation trades a second forward pass of a block for its activations: only the block's
// input is kept.
//
// Moments are forward operators, then backward steps. The forward operators of a block are inserted before
// its first backward step, so later moments move; moved() maps an old moment to the new one. A lifetime
// inside a block is split in two: one until the block's forward ends, and one from the second run on.
#include "sim/workload/tape/recompute.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>

namespace foretrain {

namespace {

/// Returns "encoder.layers.3" for "encoder.layers.3.self_attn": the path up to the first part that is a
/// number, with a name before it and parts behind it. Returns an empty path where there is no such number.
std::string_view numbered_path(std::string_view path) {
  for (std::size_t at = path.find('.'); at != std::string_view::npos;) {
    const std::size_t end = path.find('.', at + 1);
    if (end == std::string_view::npos) return {};
    const std::string_view part = path.substr(at + 1, end - at - 1);
    const bool is_number = !part.empty() && std::ranges::all_of(part, [](char c) {
      return std::isdigit(static_cast<unsigned char>(c)) != 0;
    });
    if (is_number) return path.substr(0, end);
    at = end;
  }
  return {};
}

/// A range of moments or of places in a list, the last one included. It is empty where `from` is behind
/// `last`.
struct Span {
  std::uint32_t from = 1, last = 0;
  bool holds(std::uint32_t at) const { return from <= at && at <= last; }
  void add(std::uint32_t at) {
    if (from > last) from = at;
    last = at;
  }
};

/// Computes the recomputed form of one network. Holds a reference to the network that it is made for.
class Recomputed {
 public:
  explicit Recomputed(const ExpandedModel& model)
      : model_(model),
        blocks_(numbered_blocks(model)),
        forward_steps_(static_cast<std::uint32_t>(model.forward.size())) {
    const std::uint32_t most = blocks_.empty() ? 0 : *std::ranges::max_element(blocks_);
    forward_.resize(most + 1), backward_.resize(most + 1), again_.resize(most + 1);
    for (std::uint32_t i = 0; i < forward_steps_; ++i) forward_[block_of(model.forward[i])].add(i);
    for (std::uint32_t i = 0; i < model.backward.size(); ++i)
      backward_[block_of(model.backward[i].op)].add(i);
    forget_scattered();
  }

  // Copies the backward steps, with each block's forward operators before the block's first step, and then
  // maps every lifetime to the new moments. moved_ holds the new moment of each backward step.
  ExpandedModel make() {
    ExpandedModel out = model_;
    out.backward.clear();
    for (std::uint32_t i = 0; i < model_.backward.size(); ++i) {
      const std::uint32_t block = block_of(model_.backward[i].op);
      if (block > 0 && i == backward_[block].from) add_forward(block, out);
      moved_.push_back(forward_steps_ + static_cast<std::uint32_t>(out.backward.size()));
      out.backward.push_back(model_.backward[i]);
    }
    out.lifetimes.moments =
        forward_steps_ + std::max(static_cast<std::uint32_t>(out.backward.size()), std::uint32_t{1});
    out.lifetimes.activations.clear();
    for (const Lifetime& life : model_.lifetimes.activations) add_life(life, out.lifetimes);
    for (Lifetime& gradient : out.lifetimes.parameter_gradients)
      gradient.from = moved(gradient.from), gradient.until = out.lifetimes.moments - 1;
    return out;
  }

 private:
  std::uint32_t block_of(const Operator& op) const { return blocks_[op.layer]; }

  /// Marks blocks whose operators do not stand together as no blocks: they cannot be run again by themselves.
  void forget_scattered() {
    std::vector<std::uint32_t> own(forward_.size(), 0);
    for (const Operator& op : model_.forward) ++own[block_of(op)];
    for (std::uint32_t& block : blocks_) {
      const Span span = forward_[block];
      if (span.from > span.last || span.last - span.from + 1 != own[block]) block = 0;
    }
  }

  /// Appends the block's forward operators to the backward pass. `again_` is the moment at which the first of
  /// them runs.
  void add_forward(std::uint32_t block, ExpandedModel& out) {
    again_[block] = forward_steps_ + static_cast<std::uint32_t>(out.backward.size());
    const Span span = forward_[block];
    for (std::uint32_t i = span.from; i <= span.last; ++i) out.backward.push_back({model_.forward[i], {}});
  }

  /// Returns the new moment of an old one; forward moments keep their place.
  std::uint32_t moved(std::uint32_t moment) const {
    return moment < forward_steps_ || moved_.empty()
               ? moment
               : moved_[std::min<std::size_t>(moment - forward_steps_, moved_.size() - 1)];
  }
  /// Returns the block whose forward pass makes what lives from this moment on; 0 for none.
  std::uint32_t maker_of(std::uint32_t moment) const {
    if (moment >= forward_steps_) return 0;
    return block_of(model_.forward[moment]);
  }

  /// True for a tensor that is made in the forward pass and read last by a recomputed block's backward.
  bool enters_block(const Lifetime& life) const {
    if (life.from >= forward_steps_ || life.until < forward_steps_) return false;
    const std::size_t step = life.until - forward_steps_;
    return step < model_.backward.size() && again_[block_of(model_.backward[step].op)] > 0;
  }

  /// Returns the block that is the last to read in the forward pass what another block made; 0 for none.
  std::uint32_t reader_of(const Lifetime& life, std::uint32_t maker) const {
    if (life.until >= forward_steps_) return 0;
    const std::uint32_t reader = block_of(model_.forward[life.until]);
    return reader != maker && again_[reader] > 0 ? reader : 0;
  }

  // The cases, in their order: the input of a block, a tensor outside of blocks, a temporary of the forward
  // pass, a tensor that leaves its block, and a tensor inside it.
  void add_life(const Lifetime& life, Lifetimes& out) const {
    const std::uint32_t block = maker_of(life.from);
    const auto add = [&](std::uint32_t from, std::uint32_t until, bool enters_block = false) {
      out.activations.push_back({from, until, life.bytes, life.share, enters_block});
    };
    // The batch lives during the whole step, whoever reads it first.
    const bool is_batch = life.from == 0 && life.until + 1 == model_.lifetimes.moments;
    // A checkpoint saves what goes into its block, whether or not an operator of the block does.
    if (const std::uint32_t reader = is_batch ? 0 : reader_of(life, block); reader > 0)
      return add(life.from, again_[reader] + (life.until - forward_[reader].from), true);
    if (block == 0 || again_[block] == 0 || is_batch)
      return add(moved(life.from), moved(life.until), !is_batch && enters_block(life));
    const Span forward = forward_[block];
    const std::uint32_t again = again_[block] + (life.from - forward.from);
    const bool ends_in_forward = life.until < forward_steps_;
    if (ends_in_forward) {
      add(life.from, life.until);
      // A temporary of the block exists again in the second run. What leaves the block is not made a second
      // time for its readers.
      if (forward.holds(life.until)) add(again, again_[block] + (life.until - forward.from));
      return;
    }
    if (!backward_[block].holds(life.until - forward_steps_))
      return add(life.from, moved(life.until), enters_block(life));
    add(life.from, forward.last);
    add(again, moved(life.until));
  }

  const ExpandedModel& model_;
  std::vector<std::uint32_t> blocks_;  ///< by layer
  std::uint32_t forward_steps_;
  std::vector<Span> forward_, backward_;  ///< by block: places in the two lists
  // again_: by block, moment at which it runs again, 0 for blocks that do not. moved_: by old backward step.
  std::vector<std::uint32_t> again_, moved_;
};

}  // namespace

std::vector<std::uint32_t> numbered_blocks(const ExpandedModel& model) {
  std::map<std::string, std::uint32_t, std::less<>> numbers;
  std::vector<std::uint32_t> out;
  for (const std::string& name : model.layer_names) {
    const std::string_view path = numbered_path(name);
    const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
    out.push_back(path.empty() ? 0 : numbers.try_emplace(std::string(path), next).first->second);
  }
  return out;
}

ExpandedModel with_recomputed_blocks(const ExpandedModel& model) { return Recomputed(model).make(); }

}  // namespace foretrain
