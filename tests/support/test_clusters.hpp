// Small clusters as plain values, for tests that must not depend on the TOML reader or the catalogs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/cluster/hardware.hpp"

namespace foretrain::test {

inline LinkType link_type(std::string name, LinkKind kind, double gigabytes_per_second,
                          double microseconds_per_hop, double efficiency = 1) {
  LinkType type;
  type.name = std::move(name);
  type.kind = kind;
  type.bandwidth = {gigabytes_per_second * 1e9};
  type.collective_efficiency = efficiency;
  type.latency = microseconds(microseconds_per_hop);
  return type;
}

/// PCIe 3.0 x16: 12.3 GB/s reached by pinned copies.
inline LinkType pcie3() { return link_type("pcie3_x16", LinkKind::pcie, 12.3, 1.0); }
/// One link of a V100: 24.25 GB/s per direction by p2pBandwidthLatencyTest, of which rings reach 90 %.
inline LinkType nvlink2() { return link_type("nvlink2", LinkKind::nvlink, 24.25, 1.8, 0.90); }
/// One link of an A100: 23 GB/s per direction, of which rings reach 84 %.
inline LinkType nvlink3() { return link_type("nvlink3", LinkKind::nvlink, 23, 3.1, 0.84); }
inline LinkType upi() { return link_type("upi", LinkKind::socket, 17, 0.5); }
/// InfiniBand HDR100: 12.3 GB/s by osu_bw.
inline LinkType hdr100() { return link_type("ib_hdr100", LinkKind::network, 12.3, 0.6); }

/// Tesla V100 SXM2 32 GB.
inline Gpu v100() {
  Gpu gpu;
  gpu.name = "V100-SXM2-32GB";
  gpu.architecture = Architecture::volta;
  gpu.compute_capability = 7.0;
  gpu.fp64 = {7.8e12}, gpu.fp32 = {15.7e12}, gpu.fp16 = {125e12};
  gpu.memory = {32LL << 30};
  gpu.memory_bandwidth = {900e9};
  gpu.l2_cache = {6LL << 20};
  gpu.sm_count = 80;
  return gpu;
}

inline Host test_host() {
  Host host;
  host.cpu = "a CPU that forwards traffic between PCIe devices";
  host.family = HostFamily::amd;
  host.cores = 40;
  host.memory = {384LL << 30};
  host.memory_bandwidth = {10e9};
  return host;
}

inline NodeLink connect(std::string a, std::string b, LinkType type, int count = 1) {
  return {std::move(a), std::move(b), std::move(type), count, {}};
}

inline FabricSpec star_fabric(LinkType link) {
  FabricSpec fabric;
  fabric.kind = "star";
  fabric.link = std::move(link);
  fabric.switch_latency = microseconds(0.3);
  return fabric;
}

/// Nodes of one V100 and one NIC of rate `nic` at one switch; PCIe is eight times as fast as PCIe 3, so that
/// the NIC is the narrow place.
inline ClusterSpec star_cluster(int nodes, ByteRate nic) {
  ClusterSpec spec;
  spec.name = "star";
  spec.nodes = nodes;
  spec.node.gpus = 1, spec.node.cpus = 1, spec.node.nics = 1;
  spec.node.gpu = v100();
  spec.node.host = test_host();
  spec.node.gpudirect_reach = PathClass::sys;
  const LinkType pcie = link_type("pcie_wide", LinkKind::pcie, 98.4, 1.0);
  spec.node.links = {connect("gpu0", "cpu0", pcie), connect("nic0", "cpu0", pcie)};
  LinkType network = hdr100();
  network.bandwidth = nic;
  spec.fabric = star_fabric(network);
  return spec;
}

/// Nodes of four V100 with two NVLinks between every pair; GPUs 0, 1 and nic0 behind one PCIe switch of cpu0,
/// GPUs 2, 3 (and nic1 if `nics` is 2) behind one of cpu1. 1 <= nics <= 2, each HDR100.
inline ClusterSpec nvlink_cluster(int nodes, int nics) {
  ClusterSpec spec;
  spec.name = "nvlink";
  spec.nodes = nodes;
  spec.node.gpus = 4, spec.node.cpus = 2, spec.node.switches = 2, spec.node.nics = nics;
  spec.node.gpu = v100();
  spec.node.host = test_host();
  spec.node.gpudirect_reach = PathClass::sys;
  std::vector<NodeLink>& links = spec.node.links;
  links = {connect("cpu0", "cpu1", upi(), 2), connect("cpu0", "switch0", pcie3()),
           connect("cpu1", "switch1", pcie3())};
  for (int g = 0; g < 4; ++g)
    links.push_back(connect("gpu" + std::to_string(g), g < 2 ? "switch0" : "switch1", pcie3()));
  for (int n = 0; n < nics; ++n)
    links.push_back(connect("nic" + std::to_string(n), "switch" + std::to_string(n), pcie3()));
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b)
      links.push_back(connect("gpu" + std::to_string(a), "gpu" + std::to_string(b), nvlink2(), 2));
  }
  spec.fabric = star_fabric(hdr100());
  return spec;
}

/// Nodes of `gpus` V100 and one HDR100 NIC, all on the PCIe lanes of one CPU.
inline ClusterSpec pcie_cluster(int nodes, int gpus) {
  ClusterSpec spec;
  spec.name = "pcie";
  spec.nodes = nodes;
  spec.node.gpus = gpus, spec.node.cpus = 1, spec.node.nics = 1;
  spec.node.gpu = v100();
  spec.node.host = test_host();
  spec.node.gpudirect_reach = PathClass::sys;
  for (int g = 0; g < gpus; ++g)
    spec.node.links.push_back(connect("gpu" + std::to_string(g), "cpu0", pcie3()));
  spec.node.links.push_back(connect("nic0", "cpu0", pcie3()));
  spec.fabric = star_fabric(hdr100());
  return spec;
}

/// A100 SXM4 40 GB.
inline Gpu a100() {
  Gpu gpu;
  gpu.name = "A100-SXM4-40GB";
  gpu.architecture = Architecture::ampere;
  gpu.compute_capability = 8.0;
  gpu.fp64 = {19.5e12}, gpu.fp32 = {19.5e12}, gpu.tf32 = {156e12}, gpu.fp16 = {312e12}, gpu.bf16 = {312e12};
  gpu.memory = {40LL << 30};
  gpu.memory_bandwidth = {1555e9};
  gpu.l2_cache = {40LL << 20};
  gpu.sm_count = 108;
  return gpu;
}

/// One node without a network: `gpus` of a kind on the PCIe lanes of cpu0, to which tests add their own
/// links.
inline ClusterSpec plain_node(int gpus, Gpu gpu) {
  ClusterSpec spec;
  spec.name = "node";
  spec.node.gpus = gpus, spec.node.cpus = 1;
  spec.node.gpu = std::move(gpu);
  spec.node.host = test_host();
  for (int g = 0; g < gpus; ++g)
    spec.node.links.push_back(connect("gpu" + std::to_string(g), "cpu0", pcie3()));
  return spec;
}

/// Eight A100, each with twelve NVLinks to one NVSwitch that stands for the six of a DGX A100.
inline ClusterSpec nvswitch_node() {
  ClusterSpec spec = plain_node(8, a100());
  spec.name = "nvswitch";
  spec.node.nvswitches = 1;
  for (int g = 0; g < 8; ++g)
    spec.node.links.push_back(connect("gpu" + std::to_string(g), "nvswitch0", nvlink3(), 12));
  return spec;
}

/// Every pair of GPUs joined by `count` links of a type.
inline ClusterSpec mesh_node(int gpus, Gpu gpu, const LinkType& link, int count) {
  ClusterSpec spec = plain_node(gpus, std::move(gpu));
  spec.name = "mesh";
  for (int a = 0; a < gpus; ++a) {
    for (int b = a + 1; b < gpus; ++b) {
      spec.node.links.push_back(connect("gpu" + std::to_string(a), "gpu" + std::to_string(b), link, count));
    }
  }
  return spec;
}

/// The hybrid cube mesh of a DGX-1 with eight V100: six links per GPU.
inline ClusterSpec cube_mesh_node() {
  struct Pair {
    const char *a, *b;
    int count;
  };
  ClusterSpec spec = plain_node(8, v100());
  spec.name = "cube_mesh";
  for (const Pair& p : {Pair{"gpu0", "gpu1", 1},
                        {"gpu0", "gpu2", 1},
                        {"gpu0", "gpu3", 2},
                        {"gpu0", "gpu4", 2},
                        {"gpu1", "gpu2", 2},
                        {"gpu1", "gpu3", 1},
                        {"gpu1", "gpu5", 2},
                        {"gpu2", "gpu3", 2},
                        {"gpu2", "gpu6", 1},
                        {"gpu3", "gpu7", 1},
                        {"gpu4", "gpu5", 1},
                        {"gpu4", "gpu6", 1},
                        {"gpu4", "gpu7", 2},
                        {"gpu5", "gpu6", 2},
                        {"gpu5", "gpu7", 1},
                        {"gpu6", "gpu7", 2}}) {
    spec.node.links.push_back(connect(p.a, p.b, nvlink2(), p.count));
  }
  return spec;
}

/// Two nodes' worth of sockets in one: `per_switch` V100 behind each of two PCIe switches, one switch per
/// CPU.
inline ClusterSpec two_socket_node(int per_switch) {
  ClusterSpec spec;
  spec.name = "two_sockets";
  spec.node.gpus = 2 * per_switch, spec.node.cpus = 2, spec.node.switches = 2;
  spec.node.gpu = v100();
  spec.node.host = test_host();
  spec.node.gpudirect_reach = PathClass::sys;
  spec.node.links = {connect("cpu0", "cpu1", upi()), connect("cpu0", "switch0", pcie3()),
                     connect("cpu1", "switch1", pcie3())};
  for (int g = 0; g < 2 * per_switch; ++g) {
    spec.node.links.push_back(
        connect("gpu" + std::to_string(g), g < per_switch ? "switch0" : "switch1", pcie3()));
  }
  return spec;
}

}  // namespace foretrain::test
