// From the channels a search found to those that run.
#pragma once

#include "sim/collective/nccl/tuning.hpp"

namespace foretrain::nccl {

/// MAXCHANNELS.
int most_channels(const Version& version);

/// What the count depends on.
struct ChannelCountInput {
  const JobFacts& job;
  const GraphResult& ring;
  const GraphResult& collnet;  ///< of CollNetDirect; no channels when not supported
  int min_channels = 0, max_channels = 0;
};

/// Every ring runs twice; CollNet and Hopper's networks add more (src/graph/connect.cc;
/// docs/sources/nccl_tuning.md 4).
int running_channels(const ChannelCountInput& input);

/// 0 where GPUs and switches cannot multicast.
int nvls_running_channels(const JobFacts& job);

/// Channels of sends and receives (comm->p2pnChannels, p2pnChannelsPerPeer).
struct P2pChannels {
  int total = 1, per_peer = 1;
};

/// The peers of a job. `nvlinks`: links' worth of the narrowest way to a peer of the same node; 0: no NVLink
/// to some peer, or no peer.
struct PeersOfCommunicator {
  int ranks = 1, nodes = 1;
  int nvlinks = 0;
  bool all_on_nvlink = true;
};

/// `running`: channels of collectives. The fewest that any peer has count for all (docs/sources/nccl_peers.md
/// 3.1).
P2pChannels p2p_channels(const Version& version, int running, const PeersOfCommunicator& peers);

}  // namespace foretrain::nccl
