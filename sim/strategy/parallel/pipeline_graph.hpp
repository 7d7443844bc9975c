// What passes, messages and the end of a step cost each stage, and the pipeline that they make.
#pragma once

#include <string>
#include <vector>

#include "sim/strategy/parallel/large_step.hpp"
#include "sim/strategy/parallel/schedule.hpp"

namespace foretrain {

/// A chunk with what its stage does beside the passes themselves.
struct PricedChunk {
  StageChunk chunk;
  ChunkTime time;
  /// Beside a backward, a forward pass of the stage's other chunk, which hide each other's all-to-alls.
  PassTime paired_forward{}, paired_backward{};
  bool from_idle = false;                          ///< its host begins when a pass does
  double forward_wait_s = 0, backward_wait_s = 0;  ///< of its own message, which the stage waits for
  double forward_host_s = 0, backward_host_s = 0;  ///< its host does, and reads sizes
  double gradients_s = 0;                          ///< exchange of its gradients, all buckets
  int buckets = 1;
  double host_s() const { return forward_host_s + backward_host_s; }
  double messages_s() const { return forward_wait_s + backward_wait_s; }
  double forward_s() const { return time.forward.total + forward_wait_s + forward_host_s; }
  double backward_s() const { return time.backward.total + backward_wait_s + backward_host_s; }
};

/// The end of a step on a stage.
struct StageEnd {
  double gradients_s = 0;  ///< of all chunks
  int messages = 0;
  double behind_s = 0;  ///< exchanges that nothing hides: tied embeddings, norms, gathered parameters
  double optimizer_s = 0;
  double gpu_share = 0;  ///< that gradients' exchange takes of the GPU
  std::string how;
  std::vector<PassMessage> sent{};  ///< what is priced here
};

/// Durations of the passes of each stage and of the messages between stages, which the pipeline's graph is
/// built from.
struct PipelineCosts {
  std::vector<PricedChunk> chunks;  ///< in the order of a micro-batch
  std::vector<StageEnd> stages;
  double message_bytes = 0, message_s = 0;
  bool overlaps_gradients = true;
};
PipelineCosts pipeline_costs(const LargeModelRun& job, const LargeStepRequest& request,
                             GroupExchanges& exchanges,
                             ChunkTimer& timer);  // pipeline_costs.cpp

/// The time that one stage spends in passes, and after its last pass in exchanges of data-parallel ranks.
struct StageRun {
  double busy_s = 0;  ///< in passes
  double data_s = 0;  ///< behind its last pass, in exchanges of data-parallel ranks
};
/// How many passes of a chunk ran beside another.
struct ChunkRun {
  double forward = 0, backward = 0;
};

/// The simulated pipeline of one step: its length and the work of every stage.
struct PipelineRun {
  double end_s = 0;
  std::vector<StageRun> stages;
  std::vector<ChunkRun> paired;  ///< by chunk
  std::vector<StageSpan> spans;
  int left_out = 0;  ///< micro-batches in the middle that spans do not show
  double left_out_s = 0;
};
/// With so many micro-batches. Throws InputError where stages would wait for each other for ever.
PipelineRun run_pipeline(const PipelineCosts& costs, const LargeModelRun& job, int micro_batches);

}  // namespace foretrain
