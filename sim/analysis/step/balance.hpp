// Distribution of a step's samples over ranks of unlike speed so that all finish at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/analysis/step/representatives.hpp"

namespace foretrain {

/// The ranks of one kind of node: how many, how much fits, and how long a batch takes.
struct BalancedKind {
  /// Zero where the job has no rank of this kind, which then receives nothing.
  int ranks = 0;
  /// Largest batch that fits into the memory of one GPU, in samples; at least 1.
  std::int64_t most = 0;
  /// Seconds of a step with the given batch; it must not fall as the batch grows. Each call is a simulation.
  std::function<double(std::int64_t)> seconds;
};

/// Returns batches for every kind whose sum over all ranks is `samples` and with which the slowest rank
/// finishes as early as possible: no rank has a sample that another kind would finish sooner.
///
/// Every rank has at least one sample. Memory limits are kept as long as all ranks together have memory for
/// the samples; otherwise they are ignored. Requires samples >= ranks. Calls `seconds` six times a kind.
std::vector<KindBatches> balance(const std::vector<BalancedKind>& kinds, std::int64_t samples);

}  // namespace foretrain
