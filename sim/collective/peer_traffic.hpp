// Sends and receives between ranks: alltoall, sendrecv, gather, scatter.
#pragma once

#include "sim/cluster/cluster.hpp"
#include "sim/collective/nccl_traffic.hpp"
#include "sim/collective/schedule.hpp"

namespace foretrain {

/// The input of visit_peers().
struct PeerInput {
  const Cluster& cluster;
  const nccl::Job& job;
  CollectiveOp op;
};
/// Visits every pair that exchanges data, each over the NIC nearest to its GPU.
///
/// In an alltoall only the first node of each shape is visited inside nodes. Between other nodes, pairs that
/// use the same NICs equally well are one edge with the sum of their shares. Beyond kMostPeerNodes nodes,
/// that many partners per node at equal distances stand for all partners.
void visit_peers(const PeerInput& input, const EdgeVisitor& visit);

/// Returns the bytes that a rank sends to one peer per byte of size.
double peer_share(CollectiveOp op, int ranks);

/// Limit of partners per node that an alltoall visits.
inline constexpr int kMostPeerNodes = 1024;

}  // namespace foretrain
