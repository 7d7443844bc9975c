// Which layers each chunk of a pipeline has.
#pragma once

#include <vector>

#include "sim/strategy/parallel/job.hpp"

namespace foretrain {

/// A run of layers on one stage; chunk `k` of a pipeline of p stages is on stage k % p, of a V-shaped one and
/// of DualPipe on k or 2p - 1 - k.
struct StageChunk {
  int stage = 0;
  int first = 0, layers = 0;
  int expert_layers = 0;
  int wide_layers = 0;  ///< at its end, in 16 bit where the others run in 4
  bool embedding = false, head = false;
  /// Whether both take equally long: neither the place in the network nor in the pipeline matters.
  bool is_like(const StageChunk& other) const {
    return layers == other.layers && expert_layers == other.expert_layers &&
           wide_layers == other.wide_layers && embedding == other.embedding && head == other.head;
  }
};

/// In the order in which a micro-batch passes them: pipeline x virtual_stages chunks, those of V-shaped
/// schedules two a stage; of DualPipe one way's, then the other's. By the framework's rule: as many layers
/// each (what is over goes to the first ones; where it comes out even so, embedding and head count as a
/// layer), or by cost.
std::vector<StageChunk> stage_chunks(const LargeModelRun& job);

/// Whether chunks come back the way they went (zero-bubble V).
bool is_v_shaped(PipelineSchedule schedule);
/// Chunks of each stage.
int chunks_per_stage(const LargeModelRun& job);

}  // namespace foretrain
