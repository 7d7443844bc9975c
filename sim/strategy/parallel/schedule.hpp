// In which order each stage of a pipeline runs its forward and backward passes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/strategy/parallel/job.hpp"

namespace foretrain {

/// The kinds of pass that a stage runs. Zero-bubble schedules split backward into the gradient of the input
/// and that of the weights.
enum class StageWork : std::uint8_t {
  forward,
  backward,         ///< whole, or that of inputs alone
  weight_gradient,  ///< the rest, which nothing waits for
};

/// One pass of a micro-batch through a chunk, by its place along the pipeline.
struct StageAction {
  StageWork work = StageWork::forward;
  int micro_batch = 0, chunk = 0;
  bool leaves_weights = false;  ///< backward of inputs alone: gradients of weights are a later pass
  bool is_paired = false;       ///< forward, beside the backward pass that is the stage's next action
  friend bool operator==(const StageAction&, const StageAction&) = default;
};

/// What a schedule is made for.
struct ScheduleSize {
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  int stages = 1, chunks_per_stage = 1, micro_batches = 1;
};

/// By stage. Sources: Megatron-LM schedules.py (1F1B, interleaved), nanotron engine.py (AFAB); ZB-H1
/// (Qi et al. 2024); V-shaped orders are found by a greedy search over unit times within their memory;
/// DualPipe: see below. Requires a size that faults_of allows.
std::vector<std::vector<StageAction>> schedule_of(const ScheduleSize& size);

/// deepseek-ai/DualPipe, dualpipe.py: the first half of the micro-batches passes chunks 0 to p - 1 from stage
/// 0 on, the second half chunks p to 2 p - 1 from stage p - 1 on. Requires an even number of stages, and an
/// even one of micro-batches, 2 p at least.
std::vector<std::vector<StageAction>> dual_pipe_orders(int stages, int micro_batches);  // dual_pipe.cpp

/// Whether some weight gradients are passes of their own.
bool splits_backward(PipelineSchedule schedule);

/// Of some orders the passes one after the other, such that each comes behind all it waits for; none where
/// stages wait for each other for ever. Chunk k waits for k - 1 forward, for k + 1 backward; with two `ways`
/// the first half of the chunks and the second have nothing to do with each other. What is paired waits for
/// all that both need, and stays together.
struct PlacedAction {
  int stage = 0;
  StageAction action;
};
std::optional<std::vector<PlacedAction>> executable_order(const std::vector<std::vector<StageAction>>& orders,
                                                          int chunks, int ways = 1);  // executable_order.cpp

/// Most micro-batches whose forward has run and whose backward has not, of each chunk of each stage; by stage
/// the sum over its chunks at the worst moment.
std::vector<int> most_in_flight(const std::vector<std::vector<StageAction>>& orders);

}  // namespace foretrain
