// A collective as chunk level plays it: the lanes of its algorithm on the routes of its channels.
#pragma once

#include <string>
#include <vector>

#include "sim/collective/communicator.hpp"
#include "sim/engine/transfer_graph.hpp"

namespace foretrain {

/// Thread blocks are links of their own, after those of the cluster.
struct ChunkPlan {
  TransferGraph graph;
  std::vector<ByteRate> capacities;
  std::string problem;  ///< why there is none: too many lanes, or an algorithm that exists as flows only
};

/// Requires a plan of this communicator for at least two ranks.
ChunkPlan chunk_plan(const Communicator& communicator, const CollectivePlan& plan);

inline constexpr std::size_t kMostLanes = 4'000'000;

}  // namespace foretrain
