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
  double forward_s = 0, backward_s = 0;  ///< of one micro-batch, all its chunks; of two ways in the mean
  StageMemory memory;
};

/// A pass as it ran, for drawings; at most kMostSpans of them. Two that ran beside each other have one time.
struct StageSpan {
  int stage = 0, micro_batch = 0, chunk = 0;
  char work = 'F';  ///< F, B, W, D (gradients of data-parallel ranks), O (optimizer)
  double begin_s = 0, end_s = 0;
};

/// The result of one simulated step of a large model: time, breakdown, exposed communication and the memory
/// of each stage.
struct LargeStep {
  double step_s = 0;
  // Of the busiest stage; they sum to step_s.
  double compute_s = 0, tensor_s = 0, context_s = 0, expert_s = 0;  ///< exposed, by group
  double data_s = 0;      ///< gradients and parameters, as far as the stage waits for them
  double pipeline_s = 0;  ///< messages between stages that the stage itself waits for
  double bubble_s = 0;    ///< nothing to do: other stages are not ready
  double host_s = 0, optimizer_s = 0;
  double between_s = 0;         ///< of what is exposed above, over the network; the rest inside nodes
  double tensor_between_s = 0;  ///< of that, of tensor ranks
  double model_flops = 0;       ///< of the whole step, all GPUs, nothing recomputed, causal halves once
  std::vector<StageReport> stages;
  std::vector<StageSpan> spans;
  int busiest_stage = 0;
  int fullest_stage = 0;  ///< that holds most memory
  Decisions decisions;
};

/// A job on GPUs that it has for itself. Requires faults_of(job, ranks.size()) to be empty.
struct LargeStepRequest {
  const LargeModelRun& job;
  const Cluster& cluster;
  const Placement& ranks;
  const DeviceModel& device;
  CollectiveSettings collective{};
  ClusterCollectives& collectives;
  bool explain = false;  ///< fill decisions
};
LargeStep simulate_large_step(const LargeStepRequest& request);

/// A tensor on its way from one stage to the next.
struct StageMessage {
  int from = 0, to = 0;
  int micro_batch = 0;
  bool is_forward = true;
  double begin_s = 0, end_s = 0;
};

/// A chunk's passes: layers, the wait for its own message, the host's part, and what layers are made of.
struct RecordedChunk {
  StageChunk chunk;
  PassTime forward, backward;
  double forward_wait_s = 0, backward_wait_s = 0, forward_host_s = 0, backward_host_s = 0;
  ChunkSpans spans;
  ChunkMessages messages;
};

/// The end of a step on one stage: exchanges that nothing hides, then the update.
struct RecordedEnd {
  double behind_s = 0, optimizer_s = 0;
  std::vector<PassMessage> messages;  ///< once a step: gradients, norms, parameters
};

/// A whole step as it ran; its last span ends at step.step_s. Of many micro-batches alike those in the middle
/// are left out, from `cut_s` on for `left_out_s`.
struct LargeStepRecord {
  LargeModelRun job;
  LargeStep step;
  std::vector<StageSpan> spans;
  std::vector<StageMessage> messages;
  std::vector<RecordedChunk> chunks;  ///< in the order of a micro-batch
  std::vector<RecordedEnd> ends;      ///< by stage
  double message_bytes = 0;           ///< of each of `messages`
  bool splits_backward = false;       ///< gradients of weights are passes of their own
  int left_out = 0;
  double cut_s = 0, left_out_s = 0;
};
LargeStepRecord record_large_step(const LargeStepRequest& request);

inline constexpr std::size_t kMostSpans = 200'000;

}  // namespace foretrain
