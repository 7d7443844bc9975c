// Ranks of a job that are alike, and one that stands for them: by the machine they run on, their batch, and
// the clock of their GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// A kind of rank by node type, batch and clock: one rank of it is simulated in place of all.
struct Representative {
  int kind = 0;            ///< of the cluster's kinds of node, the first that is this machine
  std::int64_t batch = 1;  ///< of a micro-step
  double clock = 1;        ///< over that of other GPUs of the kind
  int ranks = 0, nodes = 0;
  int first = 0;  ///< rank that stands for the others
};

/// What each rank of a kind is given: the first `one_more` of its ranks have a sample more than the others.
struct KindBatches {
  std::int64_t batch = 1;
  int one_more = 0;
};

/// In the order of their first ranks. `batches` by kind; empty: all have `batch`. Of GPUs of a kind that are
/// slower than others only the slowest count: they set the pace.
std::vector<Representative> representatives_of(const Scenario& scenario, const Placement& ranks,
                                               std::int64_t batch, const std::vector<KindBatches>& batches);

/// The same ranks with `first` in front: its node comes first, turned so that the rank leads it, then the
/// nodes behind it, then those before it. The ranks of a node stay side by side, as in every placement.
Placement seen_from(const Placement& ranks, int first);

}  // namespace foretrain
