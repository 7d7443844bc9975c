// Parts of a machine as data sheets and measurements describe them: GPU, link type, node, fabric, cluster.
#pragma once

#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/units.hpp"

namespace foretrain {

enum class Architecture { kepler, pascal, volta, turing, ampere, ada, hopper, blackwell };

/// Dense peak rates without sparsity; a rate of 0 = not supported by the hardware.
struct Gpu {
  std::string name;
  Architecture architecture = Architecture::volta;
  double compute_capability = 7.0;
  FlopRate fp64{}, fp32{}, tf32{}, fp16{}, bf16{}, fp8{};  ///< fp16/bf16/fp8: tensor cores where there are some
  Bytes memory{};
  ByteRate memory_bandwidth{};     ///< data sheet
  double memory_efficiency = 0.8;  ///< reached by streaming kernels / data sheet
  Bytes l2_cache{};
  int sm_count = 0;
};

enum class LinkKind { pcie, nvlink, socket, network };

/// One lane group of a kind of link, per direction.
struct LinkType {
  std::string name;
  LinkKind kind = LinkKind::pcie;
  ByteRate bandwidth{};              ///< what a plain copy reaches
  double collective_efficiency = 1;  ///< what NCCL's Simple protocol reaches / bandwidth
  Time latency{};                    ///< one hop, small message
  ByteRate nccl_bandwidth{};         ///< what NCCL's graph search books for it (src/graph/topo.h); 0: by GPU for NVLink, else `bandwidth`
};

/// CPU generations NCCL tells apart when it books the link between sockets and chooses protocols.
enum class HostFamily { intel_broadwell, intel_skylake, intel_sapphire_rapids, intel_emerald_rapids, amd, power9, arm };

/// The CPU side of a node.
struct Host {
  std::string cpu;
  HostFamily family = HostFamily::intel_skylake;
  int cores = 1;
  double slowdown = 1;  ///< single-thread time relative to the reference CPU of the host-time table (Zen 5, 1.0); larger = slower
  Bytes memory{};
  ByteRate memory_bandwidth{};  ///< one core's memcpy, for pinning batches
};

/// A connection inside a node, between devices named "gpu0", "cpu1", "switch0", "nvswitch0", "nic0".
struct NodeLink {
  std::string a, b;
  LinkType type;
  int count = 1;  ///< parallel links, their bandwidths add
  SourceSpan span{};
};

struct NodeSpec {
  int gpus = 0, cpus = 1, switches = 0, nvswitches = 0, nics = 0;
  Gpu gpu;
  Host host;
  bool peer_access = true;  ///< GPUs may read each other over PCIe; otherwise traffic is staged through host memory
  bool gpudirect = true;    ///< NICs reach GPU memory (GPUDirect RDMA); otherwise messages are staged through host memory
  bool multicast = false;   ///< NVSwitches that reduce and multicast (NVLink SHARP, Hopper and later)
  std::vector<NodeLink> links;
};

struct FabricSpec {
  std::string kind;          ///< a row of fabrics/catalog.hpp
  LinkType link;             ///< NIC to first switch
  Time switch_latency{};     ///< added per switch passed
  int nodes_per_leaf = 0;    ///< fat_tree
  int uplinks_per_leaf = 0;  ///< fat_tree
  LinkType uplink;           ///< fat_tree: leaf to spine; defaults to `link`
  bool in_network_reduction = false;  ///< switches that reduce (InfiniBand SHARP), used by CollNet
  SourceSpan span{};
};

struct ClusterSpec {
  std::string name, description;
  int nodes = 1;
  NodeSpec node;
  FabricSpec fabric;
};

}  // namespace foretrain
