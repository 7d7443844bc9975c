// The ways that messages between the ranks of a job take when no GPU library moves them.
#pragma once

#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/transports/transport.hpp"

namespace foretrain {

/// The route between two ranks over a transport: its links, the sum of their latencies, and the bandwidth of
/// the narrowest part.
struct TransportRoute {
  std::vector<LinkId> links;
  Time latency{};
  ByteRate bandwidth{};      ///< of the narrowest link, or of copies
  LinkId narrowest = kNone;  ///< kNone: both ends are in the memory of one CPU, where one core copies
};

/// Between nodes over the NIC nearest to each end's GPU. Data in GPU memory takes the cluster's routes
/// (NVLink or PCIe; through host memory where the hardware must). Data in host memory is with the CPU nearest
/// to the rank's GPU: it crosses sockets and PCIe between there and the NIC, never a GPU's own link.
class TransportRoutes {
 public:
  /// Keeps references.
  TransportRoutes(const Cluster& cluster, const Placement& placement, DataPlace data);
  /// Requires two different ranks.
  TransportRoute way(int from, int to) const;

 private:
  /// What is nearest to a GPU in its node.
  struct Near {
    int nic = 0;
    VertexId cpu = 0;  ///< counted from the first device of the node
  };
  const Near& near(const GpuPlace& place) const;
  TransportRoute between_hosts(const GpuPlace& from, const GpuPlace& to) const;

  const Cluster& cluster_;
  const Placement& placement_;
  DataPlace data_;
  std::vector<std::vector<Near>> near_;  ///< by type of node, by GPU
};

}  // namespace foretrain
