// The layers of each chunk of a pipeline.
#pragma once

#include <vector>

#include "sim/strategy/parallel/job.hpp"

namespace foretrain {

/// A run of consecutive layers on one stage. In a pipeline of p stages chunk `k` is on stage k % p; in
/// V-shaped schedules and DualPipe on k or 2p - 1 - k.
struct StageChunk {
  int stage = 0;
  /// First layer of the network, from 0, and number of layers.
  int first = 0, layers = 0;
  /// Layers with experts.
  int expert_layers = 0;
  /// Layers at its end that run in 16 bits where the others run in 4.
  int wide_layers = 0;
  bool embedding = false, head = false;
  /// Returns whether two chunks take equally long; places in the network and the pipeline do not matter.
  bool is_like(const StageChunk& other) const {
    return layers == other.layers && expert_layers == other.expert_layers &&
           wide_layers == other.wide_layers && embedding == other.embedding && head == other.head;
  }
};

/// Returns all chunks in the order in which a micro-batch passes them: pipeline x virtual_stages; two a stage
/// in V-shaped schedules; with DualPipe those of one direction, then those of the other. Layers are split by
/// the framework's rule: equal numbers, where the remainder goes to the first chunks, and embedding and head
/// count as a layer if that makes the parts equal; or equal costs.
std::vector<StageChunk> stage_chunks(const LargeModelRun& job);

/// Returns whether the second chunks pass the stages in reverse order (zero-bubble V).
bool is_v_shaped(PipelineSchedule schedule);
/// Returns the number of chunks of each stage.
int chunks_per_stage(const LargeModelRun& job);

}  // namespace foretrain
