// How many channels could fit at most, whatever their orders: searches that cannot win are not begun.
#pragma once

#include "sim/collective/nccl/channel_search.hpp"

namespace foretrain::nccl {

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
