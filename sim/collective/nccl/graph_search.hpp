// NCCL's search for one pattern: the fastest set of channels a node carries, relaxing one demand after the
// other until some fit.
#pragma once

#include "sim/collective/nccl/channel_search.hpp"

namespace foretrain::nccl {

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

}  // namespace foretrain::nccl
