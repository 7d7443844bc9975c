// What one rank of each stage holds when it holds most.
#pragma once

#include <vector>

#include "sim/strategy/parallel/stages.hpp"

namespace foretrain {

/// Bytes (docs/models/large_models.md).
struct StageMemory {
  double weights = 0, gradients = 0, optimizer = 0;
  double buckets = 0;      ///< of gradients on their way; gathered layers of sharded parameters
  double activations = 0;  ///< of all micro-batches in flight
  double logits = 0;
  double workspace = 0;  ///< scratch of libraries
  double outside = 0;    ///< CUDA context and NCCL, which PyTorch does not count
  double held = 0;  ///< free, but reserved as long as the GPU is behind the host; given back where it lacks
  double allocated() const {
    return weights + gradients + optimizer + buckets + activations + logits + workspace;
  }
  double total() const { return allocated() + outside; }
  /// The largest part, and what would make it smaller.
  std::string largest_part(const LargeModelRun& job) const;
};

struct ChunkTime;
/// StageMemory::held, where the host does not wait between passes: with `record_streams` the caching
/// allocator keeps what NCCL's stream reads until the GPU has come to it, and the host is ahead by as many
/// launches as the GPU's queue takes.
double held_bytes(const LargeModelRun& job, const ChunkTime& passes);

/// By stage, of its first rank.
std::vector<StageMemory> stage_memory(const LargeModelRun& job);

/// Parameters that a rank of a stage holds, were they not sharded over data-parallel ranks: dense ones and
/// those of experts.
struct StageParameters {
  double dense = 0, expert = 0;
  double all() const { return dense + expert; }
};
StageParameters stage_parameters(const LargeModelRun& job, const StageChunk& chunk);

}  // namespace foretrain
