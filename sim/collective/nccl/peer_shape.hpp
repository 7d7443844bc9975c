// Into how many parts NCCL cuts a message to a peer, and by which protocol it goes.
#pragma once

#include <cstdint>

#include "sim/collective/nccl/channels_used.hpp"
#include "sim/collective/nccl/version.hpp"
#include "sim/collective/protocol.hpp"

namespace foretrain::nccl {

/// What the rules depend on.
struct PeerSetting {
  Version version{};
  int ranks = 1, nodes = 1;
  int channels = 1;  ///< all of sends and receives (Job::p2p_channels)
  int per_peer = 1;  ///< most that one message may have (Job::p2p_per_peer)
  PeerPath path = PeerPath::nvlink;
  std::int64_t buffer = 0;  ///< NCCL_BUFFSIZE; 0: 4 MiB
};

/// A message to one peer.
struct PeerShape {
  int parts = 1;           ///< channels it is cut among
  std::int64_t part = 0;   ///< bytes on the fullest of them
  std::int64_t chunk = 0;  ///< of a part: what the sender's block hands over at once
  Protocol protocol = Protocol::simple;
  friend bool operator==(const PeerShape&, const PeerShape&) = default;
};

/// src/group.cc up to 2.12, src/enqueue.cc since; docs/sources/nccl_peers.md 3.1. Requires bytes >= 0.
PeerShape peer_shape(const PeerSetting& setting, std::int64_t bytes);

}  // namespace foretrain::nccl
