// The parts into which NCCL cuts a message to a peer, and its protocol.
#pragma once

#include <cstdint>

#include "sim/collective/nccl/channels_used.hpp"
#include "sim/collective/nccl/version.hpp"
#include "sim/collective/protocol.hpp"

namespace foretrain::nccl {

/// The facts that the rules depend on.
struct PeerSetting {
  Version version{};
  int ranks = 1, nodes = 1;
  /// Channels of all sends and receives (Job::p2p_channels).
  int channels = 1;
  /// Most channels of one message (Job::p2p_per_peer).
  int per_peer = 1;
  PeerPath path = PeerPath::nvlink;
  /// The same as NCCL_BUFFSIZE, in bytes; 0: 4 MiB.
  std::int64_t buffer = 0;
};

/// A message to one peer.
struct PeerShape {
  /// Channels among which it is cut.
  int parts = 1;
  /// Bytes on the fullest channel.
  std::int64_t part = 0;
  /// Bytes of a part that the sender's block hands over at a time.
  std::int64_t chunk = 0;
  Protocol protocol = Protocol::simple;
  friend bool operator==(const PeerShape&, const PeerShape&) = default;
};

/// Returns the parts of a message (src/group.cc up to 2.12, src/enqueue.cc since then;
/// docs/sources/nccl_peers.md 3.1). Requires bytes >= 0.
PeerShape peer_shape(const PeerSetting& setting, std::int64_t bytes);

}  // namespace foretrain::nccl
