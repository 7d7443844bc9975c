// Negotiation of ready tensors. Its messages are small: their number counts, their bytes do not.
#include <algorithm>
#include <bit>
#include <map>

#include "sim/collective/transport_routes.hpp"
#include "sim/strategy/horovod/horovod_settings.hpp"
#include "sim/strategy/process/call_costs.hpp"

namespace foretrain {

namespace {

/// Returns the levels of a binary tree of `count` members: log2, rounded up.
int levels(int count) { return std::bit_width(static_cast<unsigned>(count - 1)); }

/// Returns the latency from the first rank to the first rank on another node.
Time network_latency(const Cluster& cluster, const Placement& placement) {
  const TransportRoutes ways(cluster, placement, DataPlace::host_memory);
  for (int rank = 1; rank < placement.size(); ++rank) {
    if (placement.ranks[static_cast<std::size_t>(rank)].node != placement.ranks.front().node)
      return ways.way(0, rank).latency;
  }
  return {};
}

}  // namespace

// The levels inside a node and those between nodes are counted separately; the fullest node decides.
Time small_message_rounds(const Cluster& cluster, const Placement& placement, const CallCosts& calls) {
  std::map<int, int> ranks_on;
  for (const GpuPlace& place : placement.ranks) ++ranks_on[place.node];
  int most = 1;
  for (const auto& [node, ranks] : ranks_on) most = std::max(most, ranks);
  const Time inside = calls.mpi_shared_memory * levels(most);
  if (ranks_on.size() == 1) return inside;
  return inside + (calls.mpi_message + network_latency(cluster, placement)) *
                      levels(static_cast<int>(ranks_on.size()));
}

ResponseCache response_cache(int capacity, std::size_t tensors) {
  // The same tensors come in every step, so with too little capacity each one is evicted before it comes
  // again.
  if (capacity == 0) return ResponseCache::off;
  return tensors <= static_cast<std::size_t>(capacity) ? ResponseCache::holds_all : ResponseCache::holds_none;
}

// Four rounds of requests: two gathers and two broadcasts. With a cache the bit vectors come first.
Time Negotiation::of_cycle(std::size_t tensors) const {
  const Time requests = rounds * 4 + request * static_cast<std::int64_t>(tensors) * ranks;
  if (cache == ResponseCache::off) return requests;
  return cache == ResponseCache::holds_all || tensors == 0 ? rounds : rounds + requests;
}

}  // namespace foretrain
