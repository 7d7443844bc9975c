// One collective over a transport that is not NCCL: gloo, MPI, gRPC, between processes on the hosts.
#pragma once

#include "sim/analysis/collective_curve.hpp"
#include "sim/cluster/cluster.hpp"

namespace foretrain {

/// What host processes of neighbouring ranks are joined by.
struct HostLink {
  Time latency{};
  ByteRate bandwidth{};
  LinkId narrowest = kNone;  ///< kNone: both ranks are at one CPU, whose memory copies
  int ranks_sharing = 1;     ///< ranks of a node that send over it at once, unless the algorithm is a ring
};

/// The slowest of: between GPUs' CPUs inside the first node, and between the first two nodes over the NIC nearest to the first GPU.
HostLink host_link(const Cluster& cluster, const Placement& placement);

/// The data is in host memory; copies from and to GPUs are not part of it. `bottleneck` is left to the caller. An operation that the
/// library has not got has channels = 0 and says why.
CollectivePoint transport_point(const Transport& transport, CollectiveOp op, Bytes size, int ranks, const HostLink& link);

}  // namespace foretrain
