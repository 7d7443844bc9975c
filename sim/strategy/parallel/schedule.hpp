// In which order each stage of a pipeline runs its forward and backward passes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/strategy/parallel/job.hpp"

namespace foretrain {

enum class StageWork : std::uint8_t {
  forward,
  backward,         ///< whole, or for zero-bubble schedules that of inputs alone
  weight_gradient,  ///< the rest, which nothing waits for
};

/// One pass of a micro-batch through a chunk, by its place along the pipeline.
struct StageAction {
  StageWork work = StageWork::forward;
  int micro_batch = 0, chunk = 0;
  friend bool operator==(const StageAction&, const StageAction&) = default;
};

/// What a schedule is made for.
struct ScheduleSize {
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  int stages = 1, chunks_per_stage = 1, micro_batches = 1;
};

/// By stage. Sources: Megatron-LM schedules.py (1F1B, interleaved), nanotron engine.py (AFAB); ZB-H1
/// (Qi et al. 2024); V-shaped orders are found by a greedy search over unit times within their memory.
std::vector<std::vector<StageAction>> schedule_of(const ScheduleSize& size);

/// Whether weight gradients are passes of their own.
bool splits_backward(PipelineSchedule schedule);

/// Of some orders the passes one after the other, such that each comes behind all it waits for; none where
/// stages wait for each other for ever. `depends`: chunk k waits for k - 1 forward, for k + 1 backward.
struct PlacedAction {
  int stage = 0;
  StageAction action;
};
std::optional<std::vector<PlacedAction>> executable_order(const std::vector<std::vector<StageAction>>& orders,
                                                          int chunks);

/// Most micro-batches whose forward has run and whose backward has not, of each chunk of each stage; by stage
/// the sum over its chunks at the worst moment.
std::vector<int> most_in_flight(const std::vector<std::vector<StageAction>>& orders);

}  // namespace foretrain
