// The order in which each stage of a pipeline runs its forward and backward passes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/strategy/parallel/job.hpp"

namespace foretrain {

/// Kinds of pass of a stage. Zero-bubble schedules split backward into the gradient of the input and the
/// gradient of the weights.
enum class StageWork : std::uint8_t {
  forward,
  /// The whole backward pass, or the gradient of the input only.
  backward,
  /// The gradient of the weights, for which no other stage waits.
  weight_gradient,
};

/// One pass of a micro-batch through a chunk. Chunks are numbered by their place along the pipeline.
struct StageAction {
  StageWork work = StageWork::forward;
  int micro_batch = 0, chunk = 0;
  /// Backward computes the input's gradient only; the weights' gradient is a later pass.
  bool leaves_weights = false;
  /// A forward pass that runs concurrently with the backward pass that is the stage's next action.
  bool is_paired = false;
  friend bool operator==(const StageAction&, const StageAction&) = default;
};

/// The size that a schedule is made for.
struct ScheduleSize {
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  int stages = 1, chunks_per_stage = 1, micro_batches = 1;
};

/// Returns the order of passes for each stage. Sources: Megatron-LM schedules.py (1F1B, interleaved);
/// nanotron engine.py (AFAB); ZB-H1 (Qi et al. 2024). V-shaped orders are found by a greedy search over unit
/// times within their memory. For DualPipe see below. Requires a size that faults_of() accepts. Each pass
/// occurs once, and forward before backward. The cost is linear in stages x chunks x micro-batches, except
/// for V-shaped orders.
std::vector<std::vector<StageAction>> schedule_of(const ScheduleSize& size);

/// Returns the orders of deepseek-ai/DualPipe, dualpipe.py, by stage. The first half of the micro-batches
/// passes chunks 0 to p - 1 from stage 0 on, the second half chunks p to 2 p - 1 from stage p - 1 on.
/// Requires an even number of stages, and an even number of micro-batches, at least 2 p.
std::vector<std::vector<StageAction>> dual_pipe_orders(int stages, int micro_batches);  // dual_pipe.cpp

/// Returns whether some weight gradients are passes of their own.
bool splits_backward(PipelineSchedule schedule);

/// An action with its stage.
struct PlacedAction {
  int stage = 0;
  StageAction action;
};
/// Merges the stages' orders into one sequence in which each pass comes after all passes that it waits for.
/// Returns nullopt if stages wait for each other forever. Chunk k waits for k - 1 in forward and for k + 1 in
/// backward; with two `ways` the first half of the chunks and the second are independent. A pair waits for
/// everything that both passes need, and stays together.
std::optional<std::vector<PlacedAction>> executable_order(const std::vector<std::vector<StageAction>>& orders,
                                                          int chunks, int ways = 1);  // executable_order.cpp

/// Returns for each stage the largest number of passes in flight: micro-batches of any of its chunks whose
/// forward has run and whose backward (with its weight gradients) has not. It bounds the activations that a
/// stage keeps.
std::vector<int> most_in_flight(const std::vector<std::vector<StageAction>>& orders);

}  // namespace foretrain
