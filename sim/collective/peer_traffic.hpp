// Sends and receives between ranks: alltoall, sendrecv, gather, scatter.
#pragma once

#include "sim/cluster/cluster.hpp"
#include "sim/collective/nccl_traffic.hpp"
#include "sim/collective/schedule.hpp"

namespace foretrain {

/// Every pair that exchanges data, each over the NIC nearest to its GPU; alltoall: inside nodes only the
/// first of each shape is told; pairs of two other nodes that use the same NICs equally well are one edge
/// with the sum of their shares. Beyond kMostPeerNodes nodes, that many partners per node at equal distances
/// stand for all.
struct PeerInput {
  const Cluster& cluster;
  const nccl::Job& job;
  CollectiveOp op;
};
void visit_peers(const PeerInput& input, const EdgeVisitor& visit);

/// Bytes a rank sends to one peer per byte of size.
double peer_share(CollectiveOp op, int ranks);

inline constexpr int kMostPeerNodes = 1024;

}  // namespace foretrain
