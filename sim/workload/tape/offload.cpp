// A copy begins when a tensor is made; the GPU keeps it until the copy has ended, which the next few tensors
// stand for. It is called back while backward is at the tensor before it.
#include "sim/workload/tape/offload.hpp"

#include <algorithm>
#include <utility>

#include "sim/workload/tape/recompute.hpp"

namespace foretrain {

namespace {

/// torchtune keeps so many tensors whose copies may still run (OffloadActivations, max_fwd_stash_size); the
/// form on the compute stream lets go of a tensor when its block has run.
constexpr std::size_t kStash = 5, kInTurn = 1;
constexpr double kSmallestOffloaded = 1024;  ///< bytes (min_offload_size)

class Offloading {
 public:
  Offloading(const ExpandedModel& model, ActivationOffload how)
      : model_(model),
        how_(how),
        blocks_(numbered_blocks(model)),
        forward_(static_cast<std::uint32_t>(model.forward.size())),
        backward_(static_cast<std::uint32_t>(model.backward.size())),
        head_(first_of_head()) {}

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
    settle(tensors);
    for (const OffloadedTensor& tensor : tensors) add_lives(tensor, out.lifetimes);
    return out;
  }

 private:
  /// From this layer on a network makes its scores and its loss.
  std::uint32_t first_of_head() const {
    for (std::size_t i = model_.forward.size(); i > 0; --i) {
      if (model_.forward[i - 1].product_count > 0) return model_.forward[i - 1].layer;
    }
    return 0;
  }

  bool is_moved(const Lifetime& life) const {
    const bool is_kept = life.from < forward_ && life.until >= forward_ && backward_ > 0;
    if (!is_kept || model_.forward[life.from].layer >= head_) return false;
    const bool is_batch = life.from == 0 && life.until + 1 == model_.lifetimes.moments;
    if (is_batch || life.bytes.per_sample < kSmallestOffloaded) return false;
    return how_ == ActivationOffload::saved_tensors || life.enters_block;
  }

  std::uint32_t block_of(std::uint32_t step) const { return blocks_[model_.backward[step].op.layer]; }

  /// What goes into a recomputed block is needed when the block runs once more, anything else when the step
  /// that ends its life does.
  std::uint32_t needed_at(const Lifetime& life) const {
    std::uint32_t step = std::min(life.until - forward_, backward_ - 1);
    if (!life.enters_block) return step;
    const std::uint32_t block = block_of(step);
    while (block > 0 && step > 0 && block_of(step - 1) == block) --step;
    return step;
  }

  /// When copies must have ended, and from when on they may run back.
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

  void add_lives(const OffloadedTensor& tensor, Lifetimes& out) const {
    const Lifetime& life = tensor.life;
    // What was not copied when backward began is still there (torchtune's stash).
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
