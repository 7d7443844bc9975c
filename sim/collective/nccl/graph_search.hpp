// NCCL's search for one pattern: the fastest set of channels that a node carries. It relaxes one demand after
// the other until some channels fit.
#pragma once

#include <span>

#include "sim/collective/nccl/channel_search.hpp"
#include "sim/collective/nccl/link_bandwidth.hpp"

namespace foretrain::nccl {

/// The request of a search: the pattern, and the limits that settings and version give.
struct GraphRequest {
  Pattern pattern = Pattern::ring;
  int min_channels = 1, max_channels = 16;
  CrossNic cross_nic = CrossNic::automatic;
  Version version{};
};

/// Returns the best channels. GPU indices in the paths are those of the node. If nothing fits, rings and
/// trees fall back to the GPUs in order at 0.1 GB/s, and NVLS and CollNet have no channels. The number of
/// visited places is bounded, so even hostile graphs take only milliseconds.
GraphResult search_graph(const NodeMap& map, const GraphRequest& request);

/// Returns the speeds per channel that the search tries, fastest first (src/graph/search.cc;
/// docs/sources/nccl_tuning.md 4.1). Never empty.
std::span<const Milli> search_speeds(const Version& version, int compute_capability, bool several_nodes);

/// Upper bounds on the channels of a request in any order, so that searches that cannot win are skipped. They
/// follow from the links out of the GPUs, the reach of the NICs, and the links that every channel must cross
/// (such as those between sockets). A bound is never below what a search finds; 0 channels: the allowed paths
/// do not join the GPUs.
class ChannelBound {
 public:
  explicit ChannelBound(const NodeMap& map);
  /// Returns the bounds for a request.
  Ceiling of(const ChannelRequest& request) const;

 private:
  int fewest_hops(Pattern pattern) const;

  const NodeMap& map_;
  /// Hops of the shortest paths between GPUs, from NICs, and to NICs.
  int gpu_hops_ = 0, in_hops_ = 0, out_hops_ = 0;
};

}  // namespace foretrain::nccl
