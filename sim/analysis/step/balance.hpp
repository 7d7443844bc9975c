// Sharing out a step's samples among ranks of unlike speed so that all are ready at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/analysis/step/representatives.hpp"

namespace foretrain {

/// Ranks of one kind of node.
struct BalancedKind {
  int ranks = 0;                                ///< 0: none in the job, which gets nothing
  std::int64_t most = 0;                        ///< samples that fit into the memory of a GPU; at least 1
  std::function<double(std::int64_t)> seconds;  ///< of a step with a batch; grows with it
};

/// Batches of every kind whose sum over all ranks is `samples`, and with which the slowest rank is ready as
/// early as can be: no rank has a sample that another kind would do sooner. Every rank has at least one
/// sample; memory is kept to as long as the samples fit into that of all ranks together. Requires samples >=
/// ranks.
std::vector<KindBatches> balance(const std::vector<BalancedKind>& kinds, std::int64_t samples);

}  // namespace foretrain
