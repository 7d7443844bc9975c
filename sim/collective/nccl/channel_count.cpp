// Numbers of thread blocks. They are powers of two for sends and receives, and multiples of the search's
// channels for collectives.
#include "sim/collective/nccl/channel_count.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/collective/nccl/size_thresholds.hpp"

namespace foretrain::nccl {

namespace {

int power_of_two_from(int value) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(1, value))));
}

/// Doubles the channels of Hopper between nodes if its ring is fast enough and there is room.
int with_hopper_network(const ChannelCountInput& input, int channels) {
  const Version& version = input.job.version;
  const bool wide = input.job.min_compute_capability >= 90 && input.job.nodes > 1 && input.ring.bw_intra > 45;
  if (!wide || version < Version{2, 18, 0}) return channels;
  const bool room = version >= Version{2, 20, 0} ? channels < 16 : 2 * channels <= most_channels(version);
  return room ? 2 * channels : channels;
}

/// Channels of a peer that is reached over PCIe.
constexpr int kPciePeerChannels = 2;

/// Returns the channels of a peer on another node. NCCL_NCHANNELS_PER_NET_PEER exists since 2.12; since 2.20
/// a large job has fewer.
int network_peer_channels(const Version& version, int ranks, int total) {
  if (version < Version{2, 12, 0}) return 1;
  int channels = 2;
  while (version >= Version{2, 20, 0} && channels > 1 &&
         std::int64_t{channels} * ranks > 4 * std::int64_t{total})
    channels /= 2;
  return channels;
}

}  // namespace

int most_channels(const Version& version) { return version >= Version{2, 25, 0} ? 64 : 32; }

int running_channels(const ChannelCountInput& input) {
  const int most = most_channels(input.job.version);
  const int doubled = input.job.version < kFirstForecasts ? 1 : 2;
  int channels = std::min(most, doubled * input.ring.channels);
  const bool reduces = input.collnet.channels > 0 && input.collnet.bw_intra > input.collnet.bw_inter;
  // CollNet adds half as many channels again if the network is slower than the node.
  if (reduces && input.job.ranks > input.job.nodes) channels = std::min(most, channels + channels / 2);
  channels = with_hopper_network(input, channels);
  if (input.max_channels > 0) channels = std::min(channels, input.max_channels);
  return std::clamp(std::max(channels, input.min_channels), 1, most);
}

int nvls_running_channels(const JobFacts& job) {
  if (job.version < Version{2, 17, 0} || job.min_compute_capability < 90) return 0;
  if (job.min_compute_capability >= 100 && job.version >= Version{2, 27, 0}) return job.nodes > 1 ? 32 : 24;
  return 16;
}

P2pChannels p2p_channels(const Version& version, int running, const PeersOfCommunicator& peers) {
  P2pChannels result;
  result.total = power_of_two_from(running);
  int per_peer = most_channels(version);
  if (peers.nvlinks > 0) per_peer = 2 * peers.nvlinks;
  if (!peers.all_on_nvlink) per_peer = std::min(per_peer, kPciePeerChannels);
  if (peers.nodes > 1)
    per_peer = std::min(per_peer, network_peer_channels(version, peers.ranks, result.total));
  result.per_peer = std::min(power_of_two_from(per_peer), result.total);
  return result;
}

}  // namespace foretrain::nccl
