// Moments are forward operators, then backward steps; operators that are put in between move the later ones.
//
// Recomputation trades a second forward pass of a block for its activations: only the block's input is kept.
// Operators are inserted before the block's first backward step.
#include "sim/workload/tape/recompute.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>

namespace foretrain {

namespace {

/// "encoder.layers.3" of "encoder.layers.3.self_attn": up to the first part that is a number, which has a
/// name before it and parts behind it; empty without such a number.
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

/// Moments or places in a list, the last one included; none where `from` is behind it.
struct Span {
  std::uint32_t from = 1, last = 0;
  bool holds(std::uint32_t at) const { return from <= at && at <= last; }
  void add(std::uint32_t at) {
    if (from > last) from = at;
    last = at;
  }
};

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

  /// Blocks with operators of others between theirs cannot be run once more by themselves.
  void forget_scattered() {
    std::vector<std::uint32_t> own(forward_.size(), 0);
    for (const Operator& op : model_.forward) ++own[block_of(op)];
    for (std::uint32_t& block : blocks_) {
      const Span span = forward_[block];
      if (span.from > span.last || span.last - span.from + 1 != own[block]) block = 0;
    }
  }

  /// `again_`: the moment at which a block's first operator runs once more.
  void add_forward(std::uint32_t block, ExpandedModel& out) {
    again_[block] = forward_steps_ + static_cast<std::uint32_t>(out.backward.size());
    const Span span = forward_[block];
    for (std::uint32_t i = span.from; i <= span.last; ++i) out.backward.push_back({model_.forward[i], {}});
  }

  std::uint32_t moved(std::uint32_t moment) const {
    return moment < forward_steps_ || moved_.empty()
               ? moment
               : moved_[std::min<std::size_t>(moment - forward_steps_, moved_.size() - 1)];
  }
  /// Of the block whose forward makes what lives from then on; 0: of none.
  std::uint32_t maker_of(std::uint32_t moment) const {
    if (moment >= forward_steps_) return 0;
    return block_of(model_.forward[moment]);
  }

  /// Made in the forward pass, and read by a block's backward.
  bool enters_block(const Lifetime& life) const {
    if (life.from >= forward_steps_ || life.until < forward_steps_) return false;
    const std::size_t step = life.until - forward_steps_;
    return step < model_.backward.size() && again_[block_of(model_.backward[step].op)] > 0;
  }

  /// The block that reads last what another made; 0: none does in the forward pass.
  std::uint32_t reader_of(const Lifetime& life, std::uint32_t maker) const {
    if (life.until >= forward_steps_) return 0;
    const std::uint32_t reader = block_of(model_.forward[life.until]);
    return reader != maker && again_[reader] > 0 ? reader : 0;
  }

  void add_life(const Lifetime& life, Lifetimes& out) const {
    const std::uint32_t block = maker_of(life.from);
    const auto add = [&](std::uint32_t from, std::uint32_t until, bool enters_block = false) {
      out.activations.push_back({from, until, life.bytes, life.share, enters_block});
    };
    // The batch is there all the time, whoever reads it first.
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
      // What the block alone uses comes and goes once more; what leaves it is not made a second time for
      // others.
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
