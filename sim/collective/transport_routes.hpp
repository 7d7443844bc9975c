// The routes of messages between the ranks of a job when no GPU library moves them.
#pragma once

#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/transports/transport.hpp"

namespace foretrain {

/// The route between two ranks over a transport: its links, the sum of their latencies, and the smallest
/// bandwidth.
struct TransportRoute {
  std::vector<LinkId> links;
  Time latency{};
  /// Bandwidth of the narrowest link, or of copies.
  ByteRate bandwidth{};
  /// The narrowest link; kNone: both ends are in the memory of one CPU, where one core copies.
  LinkId narrowest = kNone;
};

/// Routes between all ranks of a placement. Between nodes they use the NIC nearest to each end's GPU.
///
/// Data in GPU memory takes the cluster's routes: NVLink or PCIe, or through host memory where the hardware
/// requires it. Data in host memory belongs to the CPU nearest to the rank's GPU. It crosses sockets and PCIe
/// between there and the NIC, but never a GPU's own link.
class TransportRoutes {
 public:
  /// Keeps references to both arguments, which must outlive the object.
  TransportRoutes(const Cluster& cluster, const Placement& placement, DataPlace data);
  /// Returns the route between two ranks. Requires from != to.
  TransportRoute way(int from, int to) const;

 private:
  /// The devices nearest to a GPU in its node.
  struct Near {
    int nic = 0;
    /// Counted from the first device of the node.
    VertexId cpu = 0;
  };
  const Near& near(const GpuPlace& place) const;
  TransportRoute between_hosts(const GpuPlace& from, const GpuPlace& to) const;

  const Cluster& cluster_;
  const Placement& placement_;
  DataPlace data_;
  /// The nearest devices by type of node, then by GPU.
  std::vector<std::vector<Near>> near_;
};

}  // namespace foretrain
