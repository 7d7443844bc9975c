// One optimizer step of a large model. Each kind of chunk is simulated once, then the pipeline of chunks.
#pragma once

#include <string>
#include <vector>

#include "sim/base/decisions.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/strategy/parallel/chunk_timing.hpp"
#include "sim/strategy/parallel/stage_memory.hpp"

namespace foretrain {

/// The work of one stage in a step, in seconds.
struct StageReport {
  int layers = 0;
  bool embedding = false, head = false;
  /// Time of one micro-batch through all chunks of the stage; with two directions the mean of both.
  double forward_s = 0, backward_s = 0;
  StageMemory memory;
};

/// A pass in a drawing; a step has at most kMostSpans of them. Two passes that ran as a pair have the same
/// times.
struct StageSpan {
  int stage = 0, micro_batch = 0, chunk = 0;
  /// Kind of work: F (forward), B (backward), W (weight gradients), D (gradients of data-parallel ranks), O
  /// (optimizer).
  char work = 'F';
  double begin_s = 0, end_s = 0;
};

/// The result of one simulated step of a large model: time, breakdown, exposed communication and the memory
/// of each stage.
struct LargeStep {
  double step_s = 0;
  // Parts of the busiest stage; they sum to step_s.
  /// Kernels, then exposed exchanges by group.
  double compute_s = 0, tensor_s = 0, context_s = 0, expert_s = 0;
  /// Exchanges of gradients and parameters for which the stage waits.
  double data_s = 0;
  /// Messages between stages for which the sender itself waits.
  double pipeline_s = 0;
  /// Idle time: the other stages are not ready.
  double bubble_s = 0;
  double host_s = 0, optimizer_s = 0;
  /// The part of the exposed time above that crosses the network; the rest stays inside nodes.
  double between_s = 0;
  /// The part of `between_s` that is due to tensor ranks.
  double tensor_between_s = 0;
  /// FLOPs of the whole step on all GPUs, without recomputation; causal attention counts half.
  double model_flops = 0;
  std::vector<StageReport> stages;
  std::vector<StageSpan> spans;
  int busiest_stage = 0;
  /// The stage that holds most memory.
  int fullest_stage = 0;
  Decisions decisions;
};

/// A run on GPUs that no other job uses. Requires that faults_of(job, ranks.size()) is empty.
struct LargeStepRequest {
  const LargeModelRun& job;
  const Cluster& cluster;
  const Placement& ranks;
  const DeviceModel& device;
  CollectiveSettings collective{};
  ClusterCollectives& collectives;
  /// Fill LargeStep::decisions.
  bool explain = false;
};
/// Simulates one step. The cost depends on stages, chunks and kinds of layers, not on the global batch or the
/// number of data-parallel ranks. Throws InputError when the schedule deadlocks.
LargeStep simulate_large_step(const LargeStepRequest& request);

/// A tensor that one stage sends to the next.
struct StageMessage {
  int from = 0, to = 0;
  int micro_batch = 0;
  bool is_forward = true;
  double begin_s = 0, end_s = 0;
};

/// The passes of a chunk: layers, the wait for its own message, the host's part, and the kernels and
/// exchanges of its layers.
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
  /// Messages that are sent once a step: gradients, norms, parameters.
  std::vector<PassMessage> messages;
};

/// A whole step as it ran; its last span ends at step.step_s. Of many equal micro-batches those in the middle
/// are omitted: from `cut_s` on, for `left_out_s`.
struct LargeStepRecord {
  LargeModelRun job;
  LargeStep step;
  std::vector<StageSpan> spans;
  std::vector<StageMessage> messages;
  /// Chunks in the order in which a micro-batch passes them.
  std::vector<RecordedChunk> chunks;
  /// Ends by stage.
  std::vector<RecordedEnd> ends;
  /// Bytes of each of `messages`.
  double message_bytes = 0;
  /// Gradients of weights are passes of their own.
  bool splits_backward = false;
  /// Number of omitted micro-batches.
  int left_out = 0;
  double cut_s = 0, left_out_s = 0;
};
/// Simulates one step and keeps its spans and messages.
LargeStepRecord record_large_step(const LargeStepRequest& request);

/// Limit of the spans that a step keeps for drawings.
inline constexpr std::size_t kMostSpans = 200'000;

}  // namespace foretrain
