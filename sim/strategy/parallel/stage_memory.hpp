// Memory of one rank of each stage at the moment when it holds most.
#pragma once

#include <vector>

#include "sim/strategy/parallel/stages.hpp"

namespace foretrain {

/// Bytes by purpose (docs/models/large_models.md).
struct StageMemory {
  double weights = 0, gradients = 0, optimizer = 0;
  /// Gradients that are being exchanged; gathered layers of sharded parameters.
  double buckets = 0;
  /// Activations of all micro-batches in flight.
  double activations = 0;
  double logits = 0;
  /// Workspaces of libraries.
  double workspace = 0;
  /// CUDA context and NCCL, which PyTorch does not count.
  double outside = 0;
  /// Free but reserved while the GPU is behind the host; the allocator returns it when memory is short.
  double held = 0;
  /// Bytes that PyTorch's allocator counts.
  double allocated() const {
    return weights + gradients + optimizer + buckets + activations + logits + workspace;
  }
  double total() const { return allocated() + outside; }
  /// Returns the name of the largest part with a measure that makes it smaller.
  std::string largest_part(const LargeModelRun& job) const;
};

struct ChunkTime;
/// Returns StageMemory::held, if the host does not wait between passes. With `record_streams` the caching
/// allocator keeps a buffer that NCCL's stream reads until the GPU has run the exchange. The host is ahead by
/// as many launches as the GPU's queue takes.
double held_bytes(const LargeModelRun& job, const ChunkTime& passes);

/// Returns the memory of each stage, for its first rank. Needs no simulation: activations follow from the
/// schedule's passes in flight.
std::vector<StageMemory> stage_memory(const LargeModelRun& job);

/// Parameters that a rank of a stage holds before sharding over data-parallel ranks: dense ones and those of
/// experts.
struct StageParameters {
  double dense = 0, expert = 0;
  double all() const { return dense + expert; }
};
StageParameters stage_parameters(const LargeModelRun& job, const StageChunk& chunk);

}  // namespace foretrain
