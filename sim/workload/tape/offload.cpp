// Moves kept activations to host memory and lists the copies that the step has to make.
//
// A copy begins when a tensor is made. The GPU keeps the tensor until the copy has ended; this is taken to be
// the case when the next few tensors have been made. The tensor is called back while backward works on the
// tensor that it needs before this one.
#include "sim/workload/tape/offload.hpp"

#include <algorithm>
#include <utility>

#include "sim/workload/tape/recompute.hpp"

namespace foretrain {

namespace {

/// Number of tensors whose copies may still run at a time: torchtune's default (OffloadActivations,
/// max_fwd_stash_size). The form on the compute stream frees a tensor when its block has run.
constexpr std::size_t kStash = 5, kInTurn = 1;
constexpr double kSmallestOffloaded = 1024;  ///< bytes (min_offload_size)

/// Computes the offloaded form of one network. Holds a reference to the network that it is made for.
class Offloading {
 public:
  Offloading(const ExpandedModel& model, ActivationOffload how)
      : model_(model),
        how_(how),
        blocks_(numbered_blocks(model)),
        forward_(static_cast<std::uint32_t>(model.forward.size())),
        backward_(static_cast<std::uint32_t>(model.backward.size())),
        head_(first_of_head()) {}

  // Splits the lifetimes into moved and unmoved ones, decides when each copy starts and ends, and adds what
  // remains of the moved ones on the GPU.
  ExpandedModel make() {
    ExpandedModel out = model_;
    out.offloaded = {how_, forward_, backward_, {}};
    out.lifetimes.activations.clear();
    for (const Lifetime& life : model_.lifetimes.activations) {
      if (is_moved(life))
        out.offloaded.tensors.push_back({life.from, forward_, 0, needed_at(life), life});
      else
        out.lifetimes.activations.push_back(life);
    }
    std::vector<OffloadedTensor>& tensors = out.offloaded.tensors;
    std::ranges::stable_sort(tensors, {}, &OffloadedTensor::made);
    join_widths(tensors);
    settle(tensors);
    for (const OffloadedTensor& tensor : tensors) add_lives(tensor, out.lifetimes);
    return out;
  }

 private:
  /// Returns the layer of the last forward product: from there on the network makes its scores and its loss.
  std::uint32_t first_of_head() const {
    for (std::size_t i = model_.forward.size(); i > 0; --i) {
      if (model_.forward[i - 1].product_count > 0) return model_.forward[i - 1].layer;
    }
    return 0;
  }

  /// True for tensors that wait for backward: made in the forward pass before the head, not the batch itself,
  /// and at least kSmallestOffloaded bytes a sample.
  bool is_moved(const Lifetime& life) const {
    const bool is_kept = life.from < forward_ && life.until >= forward_ && backward_ > 0;
    if (!is_kept || model_.forward[life.from].layer >= head_) return false;
    const bool is_batch = life.from == 0 && life.until + 1 == model_.lifetimes.moments;
    if (is_batch || life.bytes.per_sample < kSmallestOffloaded) return false;
    return how_ == ActivationOffload::saved_tensors || life.enters_block;
  }

  std::uint32_t block_of(std::uint32_t step) const { return blocks_[model_.backward[step].op.layer]; }

  /// Returns the backward step that waits for the tensor. The input of a recomputed block is needed when the
  /// block runs once more, another tensor in the step that ends its life.
  std::uint32_t needed_at(const Lifetime& life) const {
    std::uint32_t step = std::min(life.until - forward_, backward_ - 1);
    if (!life.enters_block) return step;
    const std::uint32_t block = block_of(step);
    while (block > 0 && step > 0 && block_of(step - 1) == block) --step;
    return step;
  }

  /// True for two lifetimes of one tensor that ends at different moments by width; each has share 0 in the
  /// widths of the other.
  static bool is_other_width(const Lifetime& a, const Lifetime& b) {
    bool shares = false;
    for (std::size_t width = 0; width < a.share.size(); ++width)
      shares = shares || (a.share[width] > 0 && b.share[width] > 0);
    return !shares && a.from == b.from && a.bytes.fixed == b.bytes.fixed &&
           a.bytes.per_sample == b.bytes.per_sample;
  }

  /// Joins the lifetimes of one tensor to a single copy, which is back when the first width needs it.
  static void join_widths(std::vector<OffloadedTensor>& tensors) {
    std::vector<OffloadedTensor> joined;
    for (const OffloadedTensor& tensor : tensors) {
      if (joined.empty() || !is_other_width(joined.back().life, tensor.life)) {
        joined.push_back(tensor);
        continue;
      }
      OffloadedTensor& into = joined.back();
      into.needed = std::min(into.needed, tensor.needed);
      into.life.until = std::max(into.life.until, tensor.life.until);
      for (std::size_t width = 0; width < into.life.share.size(); ++width)
        into.life.share[width] += tensor.life.share[width];
    }
    tensors = std::move(joined);
  }

  /// Sets the forward operator before which each copy must have ended, and the backward step from which the
  /// copy back may run. A copy back on the second stream may begin when the previous tensor is needed.
  void settle(std::vector<OffloadedTensor>& tensors) const {
    const std::size_t stash = how_ == ActivationOffload::saved_tensors ? kStash : kInTurn;
    for (std::size_t i = 0; i + stash < tensors.size(); ++i) tensors[i].gone = tensors[i + stash].made;
    std::vector<std::uint32_t> needed;
    for (const OffloadedTensor& tensor : tensors) needed.push_back(tensor.needed);
    std::ranges::sort(needed);
    for (OffloadedTensor& tensor : tensors) {
      const auto before = std::ranges::lower_bound(needed, tensor.needed);
      const bool is_ahead = how_ == ActivationOffload::saved_tensors && before != needed.begin();
      tensor.called = is_ahead                                   ? *std::prev(before)
                      : how_ == ActivationOffload::saved_tensors ? 0
                                                                 : tensor.needed;
    }
  }

  /// Adds the two lives of a moved tensor on the GPU: until its copy has ended, and from its copy back on.
  void add_lives(const OffloadedTensor& tensor, Lifetimes& out) const {
    const Lifetime& life = tensor.life;
    // torchtune's stash: the last tensors are still on the GPU when backward begins, and are not copied.
    const bool stays = tensor.gone >= forward_ && how_ == ActivationOffload::saved_tensors;
    Lifetime first = life, second = life;
    first.enters_block = second.enters_block = false;
    if (stays) return out.activations.push_back(first);
    first.until = std::max(life.from, std::min(tensor.gone, forward_ - 1));
    second.from = std::min(forward_ + tensor.called, life.until);
    out.activations.push_back(first), out.activations.push_back(second);
  }

  const ExpandedModel& model_;
  ActivationOffload how_;
  std::vector<std::uint32_t> blocks_;  ///< by layer
  std::uint32_t forward_, backward_, head_;
};

}  // namespace

ExpandedModel with_offloaded_activations(const ExpandedModel& model, ActivationOffload how) {
  if (how == ActivationOffload::none || model.forward.empty()) return model;
  return Offloading(model, how).make();
}

}  // namespace foretrain
