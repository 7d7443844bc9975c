// A collective as chunk level plays it: the lanes of its algorithm on the routes of its channels.
#pragma once

#include <string>
#include <vector>

#include "sim/collective/communicator.hpp"
#include "sim/engine/transfer_graph.hpp"

namespace foretrain {

/// A transfer graph with the capacities of its links. Thread blocks are links of their own, after those of
/// the cluster.
struct ChunkPlan {
  TransferGraph graph;
  std::vector<ByteRate> capacities;
  /// Why there is no graph: too many lanes, or an algorithm that exists as flows only. Empty otherwise.
  std::string problem;
};

/// Builds the transfer graph of a plan. Requires a plan of this communicator for at least two ranks. Throws
/// nothing of its own; reports problems in the result.
ChunkPlan chunk_plan(const Communicator& communicator, const CollectivePlan& plan);

/// Limit of lanes in a plan.
inline constexpr std::size_t kMostLanes = 4'000'000;

}  // namespace foretrain
