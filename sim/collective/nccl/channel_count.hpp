// The number of channels that run, computed from those that a search found.
#pragma once

#include "sim/collective/nccl/tuning.hpp"

namespace foretrain::nccl {

/// Returns NCCL's MAXCHANNELS.
int most_channels(const Version& version);

/// The facts that the number of channels depends on.
struct ChannelCountInput {
  const JobFacts& job;
  const GraphResult& ring;
  /// The graph of CollNetDirect; no channels if it is not supported.
  const GraphResult& collnet;
  int min_channels = 0, max_channels = 0;
};

/// Returns the channels that run. Every ring runs twice; CollNet and Hopper's networks add more
/// (src/graph/connect.cc; docs/sources/nccl_tuning.md 4).
int running_channels(const ChannelCountInput& input);

/// Returns the channels of NVLS; 0 if GPUs and switches cannot multicast.
int nvls_running_channels(const JobFacts& job);

/// Channels of sends and receives (comm->p2pnChannels, p2pnChannelsPerPeer).
struct P2pChannels {
  int total = 1, per_peer = 1;
};

/// The peers of a communicator. `nvlinks` is the width of the narrowest path to a peer of the same node, in
/// NVLinks; 0: some peer has no NVLink path, or there is no peer.
struct PeersOfCommunicator {
  int ranks = 1, nodes = 1;
  int nvlinks = 0;
  bool all_on_nvlink = true;
};

/// Returns the channels of sends and receives. `running` is the number of channels of collectives. The fewest
/// channels of any peer count for all (docs/sources/nccl_peers.md 3.1).
P2pChannels p2p_channels(const Version& version, int running, const PeersOfCommunicator& peers);

}  // namespace foretrain::nccl
