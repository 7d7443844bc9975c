// NCCL's search for one pattern: the fastest set of channels a node carries, relaxing one demand after the
// other until some fit.
#pragma once

#include <span>

#include "sim/collective/nccl/channel_search.hpp"
#include "sim/collective/nccl/link_bandwidth.hpp"

namespace foretrain::nccl {

/// What one search of channels is asked for: the pattern and the limits that settings and version give.
struct GraphRequest {
  Pattern pattern = Pattern::ring;
  int min_channels = 1, max_channels = 16;
  CrossNic cross_nic = CrossNic::automatic;
  Version version{};
};

/// GPU indices in the paths are those of the node. No channels: the node cannot do the pattern (NVLS and
/// CollNet; rings and trees fall back to the GPUs in order at 0.1 GB/s). The number of visited places is
/// bounded, so hostile graphs cost milliseconds.
GraphResult search_graph(const NodeMap& map, const GraphRequest& request);

// The speeds per channel that NCCL's search tries, fastest first.

/// src/graph/search.cc; docs/sources/nccl_tuning.md 4.1. Never empty.
std::span<const Milli> search_speeds(const Version& version, int compute_capability, bool several_nodes);

// How many channels could fit at most, whatever their orders: searches that cannot win are not begun.

/// Bounds from the links out of the GPUs, the reach of the NICs, and the links that every channel has to
/// cross (between sockets, say). Never below what a search finds; 0 channels: the allowed paths do not join
/// the GPUs.
class ChannelBound {
 public:
  explicit ChannelBound(const NodeMap& map);
  Ceiling of(const ChannelRequest& request) const;

 private:
  int fewest_hops(Pattern pattern) const;

  const NodeMap& map_;
  int gpu_hops_ = 0, in_hops_ = 0, out_hops_ = 0;  ///< of the shortest paths
};

}  // namespace foretrain::nccl
