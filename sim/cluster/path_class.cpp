// NVLink between GPUs and the relay over a peer GPU are preferred to PCIe. Routes are those of node 0 of a
// type, where link numbers need no shift.
#include "sim/cluster/path_class.hpp"

#include <array>
#include <tuple>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/routing.hpp"

namespace foretrain {

namespace {

/// Returns whether the route between two devices uses NVLink only.
bool over_nvlink(const Cluster& cluster, VertexId from, VertexId to) {
  return cluster.route_in_node(from, to).nvlink_only;
}

/// Returns whether some GPU of the node fulfils a condition.
template <class Condition>
bool any_gpu(const Cluster& cluster, int node, Condition condition) {
  for (int i = 0; i < cluster.node_spec(node).gpus; ++i) {
    if (condition(cluster.gpu(node, i))) return true;
  }
  return false;
}

/// Returns the class between two GPUs: direct NVLink, then over one peer, then over the host.
PathClass between_gpus(const Cluster& cluster, VertexId from, VertexId to) {
  if (over_nvlink(cluster, from, to)) return PathClass::nvl;
  const bool relayed = any_gpu(cluster, cluster.vertices()[from].node, [&](VertexId peer) {
    return peer != from && peer != to && over_nvlink(cluster, from, peer) && over_nvlink(cluster, peer, to);
  });
  return relayed ? PathClass::nvb : host_path_class(cluster, from, to);
}

/// Returns the class from a GPU to a NIC. A relay over NVLink counts only if the direct route is worse than
/// PXB.
PathClass to_nic(const Cluster& cluster, VertexId gpu, VertexId nic) {
  const PathClass direct = host_path_class(cluster, gpu, nic);
  if (direct <= PathClass::pxb) return direct;
  const bool relayed = any_gpu(cluster, cluster.vertices()[gpu].node, [&](VertexId peer) {
    return peer != gpu && over_nvlink(cluster, gpu, peer) &&
           host_path_class(cluster, peer, nic) <= PathClass::pxb;
  });
  return relayed ? PathClass::pxn : direct;
}

}  // namespace

std::string_view name_of(PathClass path) {
  static constexpr std::array<std::string_view, 10> kNames{"LOC", "NVL", "NVB", "C2C", "PIX",
                                                           "PXB", "PXN", "PHB", "SYS", "NET"};
  return kNames[static_cast<std::size_t>(path)];
}

PathClass host_path_class(const Cluster& cluster, VertexId from, VertexId to) {
  const int type = cluster.type_of_node(cluster.vertices()[from].node);
  return route_class(cluster.host_route_in_node(from, to).links, cluster.vertices(),
                     cluster.links().of_type(type));
}

PathClass path_class(const Cluster& cluster, VertexId from, VertexId to) {
  if (from == to) return PathClass::loc;
  const Vertex &a = cluster.vertices()[from], &b = cluster.vertices()[to];
  if (a.node != b.node || a.node < 0) return PathClass::net;
  if (a.kind == VertexKind::gpu && b.kind == VertexKind::gpu) return between_gpus(cluster, from, to);
  if (a.kind == VertexKind::gpu && b.kind == VertexKind::nic) return to_nic(cluster, from, to);
  return host_path_class(cluster, from, to);
}

int nearest_nic(const Cluster& cluster, int gpu, int node) {
  const auto distance = [&](int of_gpu, int nic) {
    const VertexId from = cluster.gpu(node, of_gpu), to = cluster.nic(node, nic);
    return std::tuple(host_path_class(cluster, from, to), cluster.nic_distance(of_gpu, nic, node));
  };
  // The NICs with the smallest distance from the GPU, in ascending order.
  const auto nearest = [&](int of_gpu) {
    std::vector<int> best;
    for (int nic = 0; nic < cluster.node_spec(node).nics; ++nic) {
      if (!best.empty() && distance(of_gpu, best.front()) < distance(of_gpu, nic)) continue;
      if (!best.empty() && distance(of_gpu, nic) < distance(of_gpu, best.front())) best.clear();
      best.push_back(nic);
    }
    return best;
  };
  const std::vector<int> mine = nearest(gpu);
  if (mine.empty()) return -1;
  std::size_t before = 0;
  for (int other = 0; other < gpu; ++other) before += nearest(other) == mine ? 1 : 0;
  return mine[before % mine.size()];
}

}  // namespace foretrain
