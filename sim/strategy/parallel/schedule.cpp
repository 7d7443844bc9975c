// Orders of a pipeline's passes, stage by stage.
//
// A schedule is a list of actions for each stage, without times. The same list can be run with any durations,
// which is why bubbles come out of the simulation and not out of a formula. In 1F1B stage s of p runs p - s -
// 1 forward passes ahead, then alternates, so it never keeps more than p - s micro-batches in flight, while
// AFAB keeps all of them. Interleaving gives each stage several chunks, which divides the bubble by their
// number and costs more messages. Zero-bubble schedules defer weight gradients, for which no other stage
// waits, into the time that would be idle. Tests check every schedule: each pass once, forward before
// backward, no deadlock.
#include "sim/strategy/parallel/schedule.hpp"

#include <algorithm>

#include "sim/strategy/parallel/stages.hpp"

namespace foretrain {

namespace {

using Order = std::vector<StageAction>;

/// GPipe. With several chunks it is breadth first (Lamy-Poirier 2023): all micro-batches pass one chunk
/// before the next one begins.
Order all_forward_all_backward(const ScheduleSize& size, int stage) {
  Order order;
  const auto pass = [&](StageWork work, int turn) {
    for (int i = 0; i < size.micro_batches; ++i) order.push_back({work, i, turn * size.stages + stage});
  };
  for (int turn = 0; turn < size.chunks_per_stage; ++turn) pass(StageWork::forward, turn);
  for (int turn = size.chunks_per_stage; turn-- > 0;) pass(StageWork::backward, turn);
  return order;
}

/// Warm-up with forward passes only, then forward and backward in turn, then the remaining backward passes.
Order one_forward_one_backward(const ScheduleSize& size, int stage) {
  const int warm_up = std::min(size.micro_batches, size.stages - stage - 1);
  Order order;
  for (int i = 0; i < warm_up; ++i) order.push_back({StageWork::forward, i, stage});
  for (int i = warm_up; i < size.micro_batches; ++i) {
    order.push_back({StageWork::forward, i, stage});
    order.push_back({StageWork::backward, i - warm_up, stage});
  }
  for (int i = size.micro_batches - warm_up; i < size.micro_batches; ++i)
    order.push_back({StageWork::backward, i, stage});
  return order;
}

/// Returns the n-th forward or backward pass of a stage in Megatron-LM's interleaving: groups of `stages`
/// micro-batches pass the first chunks, then the second ones, and so on. Backward visits the chunks in
/// reverse order.
StageAction nth_pass(const ScheduleSize& size, int stage, int n, bool forward) {
  const int group = size.stages * size.chunks_per_stage;
  const int in_group = n % group;
  const int turn = in_group / size.stages;
  const int chunk = forward ? turn : size.chunks_per_stage - 1 - turn;
  return {forward ? StageWork::forward : StageWork::backward,
          n / group * size.stages + in_group % size.stages, chunk * size.stages + stage};
}

/// The pattern of 1F1B with a longer warm-up: two passes for each later stage, and the first group's passes
/// of all chunks but one.
Order interleaved(const ScheduleSize& size, int stage) {
  const int all = size.micro_batches * size.chunks_per_stage;
  const int ahead = 2 * (size.stages - stage - 1) + (size.chunks_per_stage - 1) * size.stages;
  const int warm_up = std::min(all, ahead);
  Order order;
  for (int n = 0; n < warm_up; ++n) order.push_back(nth_pass(size, stage, n, true));
  for (int n = warm_up; n < all; ++n) {
    order.push_back(nth_pass(size, stage, n, true));
    order.push_back(nth_pass(size, stage, n - warm_up, false));
  }
  for (int n = all - warm_up; n < all; ++n) order.push_back(nth_pass(size, stage, n, false));
  return order;
}

/// ZB-H1 (Qi et al. 2024). It has as many forward passes ahead as 1F1B has in flight. On stage s weight
/// gradients follow s micro-batches behind, so the last ones fill the time that 1F1B leaves idle at the end.
Order zero_bubble_h1(const ScheduleSize& size, int stage) {
  const int all = size.micro_batches, ahead = std::min(all, size.stages - stage);
  Order order;
  for (int i = 0; i < ahead; ++i) order.push_back({StageWork::forward, i, stage});
  for (int i = 0; i < all; ++i) {
    order.push_back({StageWork::backward, i, stage, true});
    if (i >= stage) order.push_back({StageWork::weight_gradient, i - stage, stage});
    if (i + ahead < all) order.push_back({StageWork::forward, i + ahead, stage});
  }
  for (int i = std::max(0, all - stage); i < all; ++i)
    order.push_back({StageWork::weight_gradient, i, stage});
  return order;
}

/// Finds an order by a greedy simulation in which every pass takes one unit of time. A free stage takes a
/// backward pass that is ready, else a forward pass while fewer than `limit` are in flight, else a weight
/// gradient. The limit of 2 p keeps the memory of 1F1B, in chunks of half a stage.
class GreedySearch {
 public:
  explicit GreedySearch(const ScheduleSize& size)
      : size_(size), chunks_(size.stages * size.chunks_per_stage) {
    const auto passes = static_cast<std::size_t>(chunks_) * static_cast<std::size_t>(size.micro_batches);
    forward_.assign(passes, kNever), backward_.assign(passes, kNever);
    next_.assign(static_cast<std::size_t>(chunks_) * 3, 0);
  }

  std::vector<Order> orders() {
    std::vector<Order> orders(static_cast<std::size_t>(size_.stages));
    std::vector<int> in_flight(orders.size(), 0);
    const std::size_t all =
        3 * static_cast<std::size_t>(chunks_) * static_cast<std::size_t>(size_.micro_batches);
    std::size_t done = 0;
    for (int now = 0; done < all; ++now) {
      for (int stage = 0; stage < size_.stages; ++stage) {
        const std::optional<StageAction> action =
            choose(stage, now, in_flight[static_cast<std::size_t>(stage)]);
        if (!action) continue;
        orders[static_cast<std::size_t>(stage)].push_back(*action), ++done;
      }
    }
    return orders;
  }

 private:
  // Time of a pass that has not run.
  static constexpr int kNever = 1 << 30;

  std::size_t place(int chunk, int micro_batch) const {
    return static_cast<std::size_t>(chunk) * static_cast<std::size_t>(size_.micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }
  // Returns the next micro-batch of a kind of work on a chunk; it also counts those that have started.
  int& next(StageWork work, int chunk) {
    return next_[static_cast<std::size_t>(work) * static_cast<std::size_t>(chunks_) +
                 static_cast<std::size_t>(chunk)];
  }
  // A V: stage s has chunks s and 2p - 1 - s.
  std::vector<int> chunks_of(int stage) const { return {2 * size_.stages - 1 - stage, stage}; }
  // Returns whether the inputs of the next pass ended before `now`.
  bool ready(StageWork work, int chunk, int now) {
    const int micro = next(work, chunk);
    if (micro >= size_.micro_batches) return false;
    if (work == StageWork::forward) return chunk == 0 || forward_[place(chunk - 1, micro)] < now;
    if (work == StageWork::weight_gradient) return backward_[place(chunk, micro)] < now;
    if (forward_[place(chunk, micro)] >= now) return false;
    return chunk + 1 == chunks_ || backward_[place(chunk + 1, micro)] < now;
  }

  std::optional<StageAction> choose(int stage, int now, int& in_flight) {
    // The later chunk comes first, because its backward pass frees memory.
    const std::vector<int> chunks = chunks_of(stage);
    const int limit = 2 * size_.stages;
    for (const StageWork work : {StageWork::backward, StageWork::forward, StageWork::weight_gradient}) {
      if (work == StageWork::forward && in_flight >= limit) continue;
      for (const int chunk : chunks) {
        if (!ready(work, chunk, now)) continue;
        const int micro = next(work, chunk)++;
        if (work == StageWork::forward) forward_[place(chunk, micro)] = now, ++in_flight;
        if (work == StageWork::backward) backward_[place(chunk, micro)] = now;
        if (work == StageWork::weight_gradient) --in_flight;
        return StageAction{work, micro, chunk, work == StageWork::backward};
      }
    }
    return std::nullopt;
  }

  ScheduleSize size_;
  int chunks_;
  std::vector<int> forward_, backward_, next_;
};

}  // namespace

bool splits_backward(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::zb_h1 || schedule == PipelineSchedule::dualpipe ||
         is_v_shaped(schedule);
}

/// V-shaped and DualPipe orders are made for all stages at once, the others stage by stage.
std::vector<std::vector<StageAction>> schedule_of(const ScheduleSize& size) {
  if (is_v_shaped(size.schedule)) return GreedySearch(size).orders();
  if (size.schedule == PipelineSchedule::dualpipe && size.stages > 1)
    return dual_pipe_orders(size.stages, size.micro_batches);
  std::vector<Order> orders;
  for (int stage = 0; stage < size.stages; ++stage) {
    if (size.schedule == PipelineSchedule::afab)
      orders.push_back(all_forward_all_backward(size, stage));
    else if (size.schedule == PipelineSchedule::interleaved)
      orders.push_back(interleaved(size, stage));
    else if (size.schedule == PipelineSchedule::zb_h1)
      orders.push_back(zero_bubble_h1(size, stage));
    else
      orders.push_back(one_forward_one_backward(size, stage));
  }
  return orders;
}

/// A pass is over with its weight gradients, where these are separate.
std::vector<int> most_in_flight(const std::vector<Order>& orders) {
  std::vector<int> most;
  for (const Order& order : orders) {
    int now = 0, peak = 0;
    for (const StageAction& action : order) {
      if (action.work == StageWork::forward) peak = std::max(peak, ++now);
      const bool is_over = action.work == StageWork::backward && !action.leaves_weights;
      if (is_over || action.work == StageWork::weight_gradient) --now;
    }
    most.push_back(peak);
  }
  return most;
}

}  // namespace foretrain
