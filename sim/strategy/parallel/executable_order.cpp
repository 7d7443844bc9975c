// One sequence of the passes of all stages, which respects all dependencies: each stage in turn advances as
// far as it can.
//
// The task graph needs it, because a task may only depend on tasks that were added before. Every pass is
// placed once. A whole turn over all stages without progress proves a deadlock, because no later turn would
// find other passes done.
#include <algorithm>
#include <cassert>

#include "sim/strategy/parallel/schedule.hpp"

namespace foretrain {

namespace {

/// The set of passes that have run, and the test whether a further one may run.
class RunPasses {
 public:
  RunPasses(int chunks, int ways, int micro_batches)
      : chunks_(static_cast<std::size_t>(chunks)),
        way_(std::max(1, chunks / ways)),
        micro_batches_(static_cast<std::size_t>(micro_batches)),
        done_(3 * chunks_ * micro_batches_, 0) {}

  void mark(const StageAction& action) { done_[place(action.work, action.chunk, action.micro_batch)] = 1; }

  // Returns whether the next action may run; of a pair both have to be ready.
  bool lets_run(const std::vector<StageAction>& order, std::size_t next) const {
    return is_ready(order[next]) && (!order[next].is_paired || is_ready(order[next + 1]));
  }

 private:
  // Index of a pass in `done_`.
  std::size_t place(StageWork work, int chunk, int micro_batch) const {
    return (static_cast<std::size_t>(work) * chunks_ + static_cast<std::size_t>(chunk)) * micro_batches_ +
           static_cast<std::size_t>(micro_batch);
  }
  bool has_run(StageWork work, int chunk, int micro_batch) const {
    return done_[place(work, chunk, micro_batch)] != 0;
  }
  // Forward needs the chunk before on the same way, backward the chunk after and its own forward pass.
  bool is_ready(const StageAction& a) const {
    if (a.work == StageWork::weight_gradient) return has_run(StageWork::backward, a.chunk, a.micro_batch);
    if (a.work == StageWork::forward)
      return a.chunk % way_ == 0 || has_run(StageWork::forward, a.chunk - 1, a.micro_batch);
    return has_run(StageWork::forward, a.chunk, a.micro_batch) &&
           ((a.chunk + 1) % way_ == 0 || has_run(StageWork::backward, a.chunk + 1, a.micro_batch));
  }

  std::size_t chunks_;
  // Number of chunks that a micro-batch passes.
  int way_;
  std::size_t micro_batches_;
  std::vector<char> done_;
};

}  // namespace

std::optional<std::vector<PlacedAction>> executable_order(const std::vector<std::vector<StageAction>>& orders,
                                                          int chunks, int ways) {
  std::size_t all = 0;
  int micro_batches = 0;
  for (const std::vector<StageAction>& order : orders) {
    all += order.size();
    for (const StageAction& action : order) micro_batches = std::max(micro_batches, action.micro_batch + 1);
    assert(order.empty() || !order.back().is_paired);
  }
  RunPasses ran(chunks, ways, micro_batches);
  std::vector<std::size_t> next(orders.size(), 0);
  std::vector<PlacedAction> placed;
  placed.reserve(all);
  for (bool moved = true; moved && placed.size() < all;) {
    moved = false;
    for (std::size_t stage = 0; stage < orders.size(); ++stage) {
      const std::vector<StageAction>& order = orders[stage];
      while (next[stage] < order.size() && ran.lets_run(order, next[stage])) {
        for (std::size_t end = next[stage] + (order[next[stage]].is_paired ? 2 : 1); next[stage] < end;) {
          placed.push_back({static_cast<int>(stage), order[next[stage]++]});
          ran.mark(placed.back().action);
        }
        moved = true;
      }
    }
  }
  if (placed.size() < all) return std::nullopt;
  return placed;
}

}  // namespace foretrain
