// A domain's node consists of its hosts. The network between the hosts is dropped, because NVSwitches join
// them.
#include "sim/collective/nccl/nvlink_domain.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace foretrain::nccl {

namespace {

/// Returns the name of a device in the domain: "gpu3" of host 2 with four GPUs per host is "gpu11".
/// NVSwitches keep their names.
std::string name_in_domain(std::string_view device, int host, const NodeSpec& node) {
  const std::size_t digits = device.find_first_of("0123456789");
  const std::string_view kind = device.substr(0, digits);
  int index = 0;
  std::from_chars(device.data() + digits, device.data() + device.size(), index);
  const int per_host = kind == "gpu"        ? node.gpus
                       : kind == "cpu"      ? node.cpus
                       : kind == "switch"   ? node.switches
                       : kind == "nvswitch" ? 0
                                            : node.nics;
  return std::string(kind) + std::to_string(index + host * per_host);
}

/// Returns whether the link leads to the NVLink fabric between hosts.
bool is_port_of_domain(const NodeLink& link) {
  return link.type.kind == LinkKind::nvlink && (link.a.starts_with("nic") || link.b.starts_with("nic"));
}

}  // namespace

int hosts_per_domain(const ClusterSpec& cluster, const Placement& placement) {
  const auto elsewhere = [&](const GpuPlace& rank) { return rank.node != placement.ranks.front().node; };
  const bool several = std::ranges::any_of(placement.ranks, elsewhere);
  return several ? std::max(1, cluster.fabric.nvlink_domain) : 1;
}

ClusterSpec as_domains(const ClusterSpec& cluster, int hosts) {
  ClusterSpec domains = cluster;
  if (hosts == 1) return domains;
  NodeSpec& node = domains.node;
  node.links.clear();
  for (int host = 0; host < hosts; ++host) {
    for (NodeLink link : cluster.node.links) {
      if (is_port_of_domain(link)) continue;
      link.a = name_in_domain(link.a, host, cluster.node),
      link.b = name_in_domain(link.b, host, cluster.node);
      node.links.push_back(std::move(link));
    }
  }
  node.gpus *= hosts, node.cpus *= hosts, node.switches *= hosts, node.nics *= hosts;
  domains.fabric.link = cluster.fabric.uplink;
  return domains;
}

Placement as_domains(const Placement& placement, int hosts, int gpus_per_host) {
  Placement domains = placement;
  if (hosts == 1) return domains;
  for (GpuPlace& rank : domains.ranks) {
    const int host = rank.node % hosts;
    rank = {rank.node - host, host * gpus_per_host + rank.gpu};
  }
  return domains;
}

}  // namespace foretrain::nccl
