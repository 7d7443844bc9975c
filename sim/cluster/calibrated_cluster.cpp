// Three tables of constants, and a walk over every place where a link type occurs.
#include "sim/cluster/calibrated_cluster.hpp"

#include <algorithm>

#include "sim/cluster/fabrics/catalog.hpp"
#include "sim/cluster/node_kinds.hpp"

namespace foretrain {

namespace {

/// Calls `visit` for every place where a type of link occurs: node links, NIC links of other kinds and
/// fabrics. One type may occur in several places, and all of them must change together.
template <class Visitor>
void visit_links(ClusterSpec& cluster, const Visitor& visit) {
  visit_nodes(cluster, [&](NodeSpec& node) {
    for (NodeLink& link : node.links) visit(link.type);
  });
  for (NodeKind& kind : cluster.more_nodes) {
    if (kind.link) visit(*kind.link);
    if (!kind.fabric) continue;
    for (LinkType* type : link_types_of(*kind.fabric)) visit(*type);
  }
  for (LinkType* type : link_types_of(cluster.fabric)) visit(*type);
}

}  // namespace

const std::vector<ConstantOf<Gpu>>& gpu_constants() {
  static const std::vector<ConstantOf<Gpu>> rows{
      {{"gpu.memory_efficiency", std::nullopt, 0.05, 1, 0.1,
        "what streaming kernels reach of the data sheet's memory bandwidth"},
       [](const Gpu& gpu) { return gpu.memory_efficiency; },
       [](Gpu& gpu, double value) { gpu.memory_efficiency = value; }},
      {{"gpu.sustained_clock", std::nullopt, 0.1, 1.2, 0.1,
        "clock under load over the clock of the data sheet's rates"},
       [](const Gpu& gpu) { return gpu.sustained_clock; },
       [](Gpu& gpu, double value) { gpu.sustained_clock = value; }},
      {{"gpu.staging_share", std::nullopt, 0.05, 1, 0.3,
        "of its host link's rate, when peers exchange data through host memory"},
       [](const Gpu& gpu) { return gpu.staging_share; },
       [](Gpu& gpu, double value) { gpu.staging_share = value; }},
  };
  return rows;
}

const std::vector<ConstantOf<Host>>& host_constants() {
  static const std::vector<ConstantOf<Host>> rows{
      {{"host.slowdown", std::nullopt, 0.2, 20, 0.4, "single-thread time over the reference CPU's"},
       [](const Host& host) { return host.slowdown; },
       [](Host& host, double value) { host.slowdown = value; }},
      {{"host.memory_bandwidth", Dimension::byte_rate, 1e8, 1e12, 0.4, "memcpy of one core"},
       [](const Host& host) { return host.memory_bandwidth.per_second; },
       [](Host& host, double value) { host.memory_bandwidth = {value}; }},
  };
  return rows;
}

const std::vector<ConstantOf<LinkType>>& link_constants() {
  static const std::vector<ConstantOf<LinkType>> rows{
      {{"bandwidth", Dimension::byte_rate, 1e6, 2e12, 0.2,
        "what a plain copy reaches, one link, one direction"},
       [](const LinkType& link) { return link.bandwidth.per_second; },
       [](LinkType& link, double value) { link.bandwidth = {value}; }},
      {{"latency", Dimension::time, 1e-9, 1e-2, 0.7, "one hop, small message"},
       [](const LinkType& link) { return to_seconds(link.latency); },
       [](LinkType& link, double value) { link.latency = seconds(value); }},
      {{"collective_efficiency", std::nullopt, 0.02, 1.3, 0.15,
        "what NCCL's Simple protocol reaches / bandwidth"},
       [](const LinkType& link) { return link.collective_efficiency; },
       [](LinkType& link, double value) { link.collective_efficiency = value; }},
      {{"collective_latency", Dimension::time, 1e-7, 1e-2, 0.5,
        "one step of a collective between nodes, small message"},
       [](const LinkType& link) { return to_seconds(link.collective_latency); },
       [](LinkType& link, double value) { link.collective_latency = seconds(value); }},
      {{"rendezvous_latency", Dimension::time, 1e-7, 1e-2, 0.7,
        "more of it for messages beyond the eager limit"},
       [](const LinkType& link) { return to_seconds(link.rendezvous_latency); },
       [](LinkType& link, double value) { link.rendezvous_latency = seconds(value); }},
      {{"rendezvous_gap", Dimension::time, 1e-7, 1e-2, 0.7, "a proxy's time for each such message"},
       [](const LinkType& link) { return to_seconds(link.rendezvous_gap); },
       [](LinkType& link, double value) { link.rendezvous_gap = seconds(value); }},
      {{"copy_latency", Dimension::time, 1e-7, 1e-2, 0.7, "of a message's copy into the GPU by the CPU"},
       [](const LinkType& link) { return to_seconds(link.copy_latency); },
       [](LinkType& link, double value) { link.copy_latency = seconds(value); }},
      {{"copy_rate", Dimension::byte_rate, 1e7, 1e12, 0.5, "of the bytes of that copy"},
       [](const LinkType& link) { return link.copy_rate.per_second; },
       [](LinkType& link, double value) { link.copy_rate = {value}; }},
  };
  return rows;
}

std::string name_of_link_constant(const std::string& link, const std::string& constant) {
  return "link." + link + "." + constant;
}

/// Sorts by name and removes repeated names.
std::vector<LinkType> link_types_of(const ClusterSpec& cluster) {
  std::vector<LinkType> types;
  ClusterSpec copy = cluster;
  visit_links(copy, [&](const LinkType& type) {
    if (!type.name.empty()) types.push_back(type);
  });
  std::ranges::sort(types, {}, &LinkType::name);
  const auto repeated = std::unique(types.begin(), types.end(),
                                    [](const LinkType& a, const LinkType& b) { return a.name == b.name; });
  types.erase(repeated, types.end());
  return types;
}

ClusterSpec calibrated(ClusterSpec cluster, Calibration calibration) {
  // A measured constant holds for every node that has the same part as the measured node.
  const NodeSpec described = cluster.node;
  visit_nodes(cluster, [&](NodeSpec& node) {
    if (node.gpu == described.gpu) apply(calibration, gpu_constants(), node.gpu);
    if (node.host == described.host) apply(calibration, host_constants(), node.host);
  });
  visit_links(cluster, [&](LinkType& type) {
    for (const ConstantOf<LinkType>& constant : link_constants()) {
      const CalibratedConstant* fitted =
          calibration.find(name_of_link_constant(type.name, constant.range.name));
      if (fitted != nullptr) constant.set(type, fitted->value);
    }
  });
  cluster.calibration = std::move(calibration);
  return cluster;
}

}  // namespace foretrain
