// A CPU between two PCIe or socket links forwards packets between them, at less than the links' rate.
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/node_layout.hpp"
#include "sim/cluster/routing.hpp"

namespace foretrain {

double peer_copy_share(const Cluster& cluster, const Route& route) {
  if (route.staged) return 1;
  for (std::size_t i = 0; i + 1 < route.links.size(); ++i) {
    const ClusterLink in = cluster.links()[route.links[i]], out = cluster.links()[route.links[i + 1]];
    const bool in_cpu = cluster.vertices()[in.to].kind == VertexKind::cpu;
    if (in_cpu && in.kind != LinkKind::nvlink && out.kind != LinkKind::nvlink) return kRootComplexShare;
  }
  return 1;
}

}  // namespace foretrain
