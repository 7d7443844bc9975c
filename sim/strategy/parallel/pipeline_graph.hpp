// Costs of passes, messages and the end of a step for each stage, and the pipeline that they make.
#pragma once

#include <string>
#include <vector>

#include "sim/strategy/parallel/large_step.hpp"
#include "sim/strategy/parallel/schedule.hpp"

namespace foretrain {

/// A chunk with the work of its stage besides the passes themselves.
struct PricedChunk {
  StageChunk chunk;
  ChunkTime time;
  /// Times in a pair: forward of this chunk with backward of the stage's other chunk, which hide each other's
  /// all-to-alls.
  PassTime paired_forward{}, paired_backward{};
  /// The host starts when a pass starts.
  bool from_idle = false;
  /// Seconds of the pass's own message for which the stage waits.
  double forward_wait_s = 0, backward_wait_s = 0;
  /// Seconds of the host for waking up and reading tensor sizes.
  double forward_host_s = 0, backward_host_s = 0;
  /// Seconds of the exchange of its gradients, all buckets.
  double gradients_s = 0;
  int buckets = 1;
  double host_s() const { return forward_host_s + backward_host_s; }
  double messages_s() const { return forward_wait_s + backward_wait_s; }
  /// Seconds that a stage is occupied by a pass that is not paired.
  double forward_s() const { return time.forward.total + forward_wait_s + forward_host_s; }
  double backward_s() const { return time.backward.total + backward_wait_s + backward_host_s; }
};

/// The end of a step on one stage.
struct StageEnd {
  /// Seconds of exchanging the gradients of all chunks.
  double gradients_s = 0;
  int messages = 0;
  /// Exchanges that nothing hides: tied embeddings, norms, gathered parameters; in seconds.
  double behind_s = 0;
  double optimizer_s = 0;
  /// Fraction of the GPU that the exchange of gradients takes.
  double gpu_share = 0;
  /// The algorithm of that exchange, in words.
  std::string how;
  /// Messages whose time is part of this end.
  std::vector<PassMessage> sent{};
};

/// Durations of passes and of messages between stages, from which the pipeline's graph is built.
struct PipelineCosts {
  /// Chunks in the order in which a micro-batch passes them.
  std::vector<PricedChunk> chunks;
  std::vector<StageEnd> stages;
  double message_bytes = 0, message_s = 0;
  bool overlaps_gradients = true;
};
/// Computes all durations of a step. `timer` and `exchanges` are caches that the caller keeps.
PipelineCosts pipeline_costs(const LargeModelRun& job, const LargeStepRequest& request,
                             GroupExchanges& exchanges,
                             ChunkTimer& timer);  // pipeline_costs.cpp

/// Time that one stage spends in passes, and after its last pass in exchanges of data-parallel ranks.
struct StageRun {
  /// Seconds in passes.
  double busy_s = 0;
  /// Seconds after its last pass in exchanges of data-parallel ranks.
  double data_s = 0;
};
/// Number of passes of a chunk that ran as part of a pair.
struct ChunkRun {
  double forward = 0, backward = 0;
};

/// The simulated pipeline of one step: its length and the work of every stage.
struct PipelineRun {
  double end_s = 0;
  std::vector<StageRun> stages;
  /// Pairs by chunk.
  std::vector<ChunkRun> paired;
  std::vector<StageSpan> spans;
  /// Number of micro-batches in the middle that the spans do not show.
  int left_out = 0;
  double left_out_s = 0;
};
/// Runs the pipeline with `micro_batches` micro-batches. Throws InputError if stages would wait for each
/// other forever. The cost grows about linearly with chunks x micro-batches.
PipelineRun run_pipeline(const PipelineCosts& costs, const LargeModelRun& job, int micro_batches);

}  // namespace foretrain
