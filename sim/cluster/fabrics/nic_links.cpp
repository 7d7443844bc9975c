// NIC links are numbered by node, then by NIC, then by direction (up, down).
#include "sim/cluster/fabrics/nic_links.hpp"

namespace foretrain {

namespace {

/// Returns the number of the NIC in the cluster.
std::uint64_t number_of(const FabricSite& site, FabricPort port) {
  return static_cast<std::uint64_t>(port.node) * static_cast<std::uint64_t>(site.nics) +
         static_cast<std::uint64_t>(port.nic);
}

/// Returns a hash of a number (the finalizer of SplitMix64, Steele et al. 2014).
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

const LinkType& uplink_of(const FabricSpec& spec) {
  return spec.uplink.bandwidth.per_second > 0 ? spec.uplink : spec.link;
}

LinkId link_up(const FabricSite& site, FabricPort port) {
  return site.first_link + 2 * static_cast<LinkId>(port.node * site.nics + port.nic);
}

LinkId link_down(const FabricSite& site, FabricPort port) { return link_up(site, port) + 1; }

LinkId after_nic_links(const FabricSite& site) { return link_up(site, {site.nodes, 0}); }

void add_both_directions(ClusterLinks& links, VertexId from, VertexId to, const LinkType& type, int count) {
  links.add(from, to, type, count);
  links.add(to, from, type, count);
}

void add_nic_links(const FabricSpec& spec, const FabricSite& site, int nodes_per_switch,
                   ClusterLinks& links) {
  for (int node = 0; node < site.nodes; ++node) {
    const VertexId first = site.first_nic + static_cast<VertexId>(node) * site.vertices_per_node;
    const VertexId to = site.first_switch + static_cast<VertexId>(node / nodes_per_switch);
    for (int nic = 0; nic < site.nics; ++nic)
      add_both_directions(links, first + static_cast<VertexId>(nic), to, spec.link);
  }
}

std::uint64_t path_number(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to) {
  const std::uint64_t target = number_of(site, to);
  return spec.ecmp == PathChoice::destination ? target : mixed(target << 32 ^ number_of(site, from));
}

}  // namespace foretrain
