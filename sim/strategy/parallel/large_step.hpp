// One optimizer step of a large model: every sort of chunk is simulated once, then the pipeline of chunks.
#pragma once

#include <string>
#include <vector>

#include "sim/base/decisions.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/strategy/parallel/chunk_timing.hpp"
#include "sim/strategy/parallel/stage_memory.hpp"

namespace foretrain {

/// What one stage does in a whole step, seconds.
struct StageReport {
  int layers = 0;
  bool embedding = false, head = false;
  double forward_s = 0, backward_s = 0;  ///< of one micro-batch, all its chunks
  StageMemory memory;
};

/// A pass as it ran, for drawings; of at most kMostSpans of the first micro-batches.
struct StageSpan {
  int stage = 0, micro_batch = 0, chunk = 0;
  char work = 'F';  ///< F, B, W, D (gradients of data-parallel ranks), O (optimizer)
  double begin_s = 0, end_s = 0;
};

struct LargeStep {
  double step_s = 0;
  // Of the busiest stage; they sum to step_s.
  double compute_s = 0, tensor_s = 0, context_s = 0, expert_s = 0;  ///< exposed, by group
  double data_s = 0;      ///< gradients and parameters, as far as the stage waits for them
  double pipeline_s = 0;  ///< messages between stages that the stage itself waits for
  double bubble_s = 0;    ///< nothing to do: other stages are not ready
  double host_s = 0, optimizer_s = 0;
  double between_s = 0;    ///< of what is exposed above, over the network; the rest inside nodes
  double model_flops = 0;  ///< of the whole step, all GPUs, nothing recomputed, causal halves once
  std::vector<StageReport> stages;
  std::vector<StageSpan> spans;
  int busiest_stage = 0;
  int fullest_stage = 0;  ///< that holds most memory
  Decisions decisions;
};

/// A job on GPUs that it has for itself. Requires faults_of(job, ranks.size()) to be empty.
struct LargeStepRequest {
  const LargeModelJob& job;
  const Cluster& cluster;
  const Placement& ranks;
  const DeviceModel& device;
  CollectiveSettings collective{};
  ClusterCollectives& collectives;
  bool explain = false;  ///< fill decisions
};
LargeStep simulate_large_step(const LargeStepRequest& request);

inline constexpr std::size_t kMostSpans = 20'000;

}  // namespace foretrain
