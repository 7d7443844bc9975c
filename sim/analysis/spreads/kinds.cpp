// A path is recognized from the links in the cluster's files, a network from the FLOPs of its products.
#include "sim/analysis/spreads/kinds.hpp"

#include <algorithm>
#include <string>

namespace foretrain {

namespace {

/// Returns true for ends of links that are GPUs or their switches, not hosts.
bool is_gpu_end(const std::string& name) { return name.starts_with("gpu") || name.starts_with("nvswitch"); }

}  // namespace

/// Several nodes: the network link's name begins with its technology. One node: NVLink between GPUs, else
/// PCIe.
MessagePath path_of(const ClusterSpec& cluster, int nodes) {
  if (nodes < 2) {
    const bool nvlink = std::ranges::any_of(cluster.node.links, [](const NodeLink& link) {
      return link.type.kind == LinkKind::nvlink && is_gpu_end(link.a) && is_gpu_end(link.b);
    });
    return nvlink ? MessagePath::nvlink : MessagePath::pcie;
  }
  struct Prefix {
    std::string_view begin;
    MessagePath path;
  };
  constexpr Prefix kPrefixes[] = {{"ib_", MessagePath::infiniband},      {"opa", MessagePath::infiniband},
                                  {"roce", MessagePath::roce},           {"efa", MessagePath::efa},
                                  {"slingshot", MessagePath::slingshot}, {"eth_", MessagePath::sockets},
                                  {"tcp", MessagePath::sockets},         {"veth", MessagePath::sockets}};
  for (const auto& [begin, path] : kPrefixes)
    if (cluster.fabric.link.name.starts_with(begin)) return path;
  return MessagePath::other_network;
}

/// A quarter of the FLOPs in serial products makes a network recurrent; half in convolutions a convolutional
/// one.
NetworkKind network_kind(const Scenario& scenario) {
  double conv = 0, serial = 0, all = 0;
  for (const Operator& op : scenario.workload.model->forward) {
    for (std::size_t i = 0; i < op.product_count; ++i) {
      const double flops = op.products[i].flops_per_sample();
      all += flops;
      if (op.products[i].serial > 1) serial += flops;
      if (op.cls == OperatorClass::conv || op.cls == OperatorClass::depthwise_conv) conv += flops;
    }
  }
  if (serial > all / 4) return NetworkKind::recurrent;
  return conv > all / 2 ? NetworkKind::convolutions : NetworkKind::products;
}

}  // namespace foretrain
