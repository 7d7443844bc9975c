// Groups of alike ranks, each with one rank that stands for all: by machine, batch and clock of the GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// A group of ranks that are alike; one of them is simulated in place of all.
struct Representative {
  /// Index among the cluster's kinds of node: the first one that is this machine.
  int kind = 0;
  /// Samples of a micro-step.
  std::int64_t batch = 1;
  /// Clock relative to other GPUs of the kind; below 1 for slow GPUs.
  double clock = 1;
  int ranks = 0, nodes = 0;
  /// The rank that stands for the others.
  int first = 0;
};

/// Batches of the ranks of one kind of node: the first `one_more` ranks have one sample more than the others.
struct KindBatches {
  std::int64_t batch = 1;
  int one_more = 0;
};

/// Returns the groups in the order of their first ranks. `batches` is by kind; if empty, all ranks have
/// `batch`. Slow GPUs of a kind form one group with the slowest clock, because that one sets the pace. Linear
/// in ranks times groups.
std::vector<Representative> representatives_of(const Scenario& scenario, const Placement& ranks,
                                               std::int64_t batch, const std::vector<KindBatches>& batches);

/// Returns the same ranks in the view of `first`: its node comes first, turned so that the rank leads it,
/// then the nodes behind it, then those before it. The ranks of a node stay adjacent, as in every placement.
Placement seen_from(const Placement& ranks, int first);

}  // namespace foretrain
