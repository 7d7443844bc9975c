// Parts of a machine as data sheets and measurements describe them: GPU, link type, node, fabric, cluster.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/held_options.hpp"
#include "sim/base/units.hpp"
#include "sim/cluster/calibration.hpp"
#include "sim/cluster/path_class.hpp"
#include "sim/cluster/site.hpp"
#include "sim/cluster/storage.hpp"

namespace foretrain {

/// In the order of their years. `cpu`: no GPU at all; the cores of the host compute, and what is "on the
/// device" lies in host memory. `cdna` and its successors are AMD's.
enum class Architecture {
  cpu,
  kepler,
  pascal,
  volta,
  turing,
  ampere,
  cdna,
  cdna2,
  ada,
  hopper,
  cdna3,
  blackwell
};

constexpr bool is_amd(Architecture architecture) {
  return architecture == Architecture::cdna || architecture == Architecture::cdna2 ||
         architecture == Architecture::cdna3;
}

/// How a GPU is built into a node where nobody says otherwise: for new cluster files. What runs on a cluster
/// uses the cluster's own links.
struct GpuPorts {
  std::string host;      ///< link to a CPU or PCIe switch
  std::string nvlink;    ///< empty: none
  int nvlinks = 0;       ///< of one GPU
  bool bridged = false;  ///< a bridge between two cards, else the board has them
  bool peer_access = true;
  friend bool operator==(const GpuPorts&, const GpuPorts&) = default;
};

/// Dense peak rates without sparsity; a rate of 0 = not supported by the hardware.
struct Gpu {
  std::string name;
  Architecture architecture = Architecture::volta;
  double compute_capability = 7.0;
  FlopRate fp64{}, fp32{}, tf32{}, fp16{}, bf16{},
      fp8{};                       ///< fp16/bf16/fp8: tensor cores where there are some
  Bytes memory{};                  ///< data sheet
  Bytes usable_memory{};           ///< what the driver leaves to programs (nvidia-smi's total); 0 = `memory`
  ByteRate memory_bandwidth{};     ///< data sheet
  double memory_efficiency = 0.8;  ///< reached by streaming kernels / data sheet
  Bytes l2_cache{};
  int sm_count = 0;
  double tdp_w = 0;  ///< board power in watts; 0: unknown
  /// Clock under training load / clock of the data sheet's rates; cards with a small power budget fall
  /// behind
  double sustained_clock = 1;
  /// Of its host link's rate, what its kernels reach each way when peers exchange data through host memory
  double staging_share = 0.64;
  GpuPorts ports{};
  bool trainings_measured = false;  ///< the constants of kernels know it
  Bytes capacity() const { return usable_memory.count > 0 ? usable_memory : memory; }
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

/// The technology of a link. It decides which figures a link file may have, and how NCCL classes a path over
/// it.
enum class LinkKind { pcie, nvlink, socket, network };

/// One lane group of a kind of link, per direction.
struct LinkType {
  std::string name;
  LinkKind kind = LinkKind::pcie;
  ByteRate bandwidth{};              ///< what a plain copy reaches
  ByteRate line_rate{};              ///< what the wire carries; nothing measured may be above it; 0: unknown
  double collective_efficiency = 1;  ///< what NCCL's Simple protocol reaches / bandwidth
  Time latency{};                    ///< one hop, small message
  /// What NCCL's graph search books for it (src/graph/topo.h); 0: by GPU for NVLink, else `bandwidth`
  ByteRate nccl_bandwidth{};
  /// One step of a collective between two nodes, small message: proxies, NIC and wire; 0: unknown
  Time collective_latency{};
  Time rendezvous_latency{};   ///< more of it for messages beyond `eager_limit`
  Bytes eager_limit{};         ///< largest message that needs no handshake; 0: none does
  Time message_gap{};          ///< what a rank's proxy needs for each message, one after the other
  Time crowded_message_gap{};  ///< the same in jobs of more than `crowded_nodes` nodes
  int crowded_nodes = 0;       ///< 0: no number of nodes changes it
  int flows = 0;               ///< TCP connections of a channel; 0: as many as the wire needs
  int flow_threads = 0;       ///< threads of their own that serve those connections; 0: the rank's proxy does
  ByteRate flow_bandwidth{};  ///< most of one TCP connection; 0: no limit but the wire's
  Time nccl_latency{};        ///< what the network plug-in tells NCCL of its latency
  Bytes nccl_buffer{};        ///< NCCL_BUFFSIZE as the plug-in sets it; 0: not at all
  bool simple_only = false, ring_only = false;  ///< what the plug-in, or its maker's settings, allow NCCL
  Time inject_latency{};  ///< more of a message up to `inject_limit`, which the CPU copies into the command
  Bytes inject_limit{};   ///< largest message that is sent within its command; 0: none is
  /// Larger messages that ask for nothing are copied into the GPU by the receiver's CPU, by a call of its
  /// driver; 0: none is
  Bytes copy_limit{};
  Time copy_latency{};   ///< of such a copy
  ByteRate copy_rate{};  ///< and of its bytes; 0: nothing beyond the latency
  /// What the proxy needs for a message beyond `eager_limit`, if more than message_gap
  Time rendezvous_gap{};
  friend bool operator==(const LinkType&, const LinkType&) = default;
};

/// CPU generations NCCL tells apart when it books the link between sockets and chooses protocols.
enum class HostFamily {
  intel_broadwell,
  intel_skylake,
  intel_sapphire_rapids,
  intel_emerald_rapids,
  amd,
  power9,
  arm
};

/// The CPU side of a node.
struct Host {
  std::string cpu;
  HostFamily family = HostFamily::intel_skylake;
  int cores = 1;
  /// Single-thread time relative to the reference CPU of the host-time table (Zen 5, 1.0); larger = slower
  double slowdown = 1;
  Bytes memory{};
  ByteRate memory_bandwidth{};         ///< one core's memcpy, for pinning batches
  double power_w = 0;                  ///< of a working node without its GPUs; 0: unknown
  ByteRate nvme_read{}, nvme_write{};  ///< of all drives of the node that a training swaps to; 0: unknown
  friend bool operator==(const Host&, const Host&) = default;
};

/// A connection inside a node, between devices named "gpu0", "cpu1", "switch0", "nvswitch0", "nic0".
struct NodeLink {
  std::string a, b;
  LinkType type;
  int count = 1;  ///< parallel links, their bandwidths add
  SourceSpan span{};
  friend bool operator==(const NodeLink&, const NodeLink&) = default;
};

/// One type of node as its file describes it: GPUs, CPUs, NICs, and how they are joined. It is a value
/// without an identity; a cluster repeats it.
struct NodeSpec {
  int gpus = 0, cpus = 1, switches = 0, nvswitches = 0, nics = 0;
  Gpu gpu;
  Host host;
  /// GPUs may read each other over PCIe; otherwise traffic is staged through host memory.
  bool peer_access = true;
  /// NICs reach GPU memory (GPUDirect RDMA); otherwise messages are staged through host memory.
  bool gpudirect = true;
  /// Farthest NIC that does (NCCL_NET_GDR_LEVEL); from beyond, messages are staged.
  PathClass gpudirect_reach = PathClass::pxb;
  bool multicast = false;  ///< NVSwitches that reduce and multicast (NVLink SHARP, Hopper and later)
  std::vector<NodeLink> links;
  friend bool operator==(const NodeSpec&, const NodeSpec&) = default;
};

/// A connection of an `explicit` fabric: two switches, or a switch and a NIC ("node3.nic0") or a range of
/// them ("node0-17.nic1", "node4").
struct FabricLink {
  std::string a, b;
  LinkType type;
  int count = 1;  ///< parallel links, their bandwidths add
  SourceSpan span{};
};

/// How a switch chooses between equally short ways: by the receiving NIC alone (InfiniBand's static tables),
/// or by a hash of both ends (Ethernet's ECMP). Both are deterministic.
enum class PathChoice { destination, flow };

/// The network between nodes. What only its kind has, say the nodes below a leaf, is in that kind's options:
/// a struct beside its row in fabrics/, which nothing else knows.
struct FabricSpec : HeldOptions {
  std::string kind;                   ///< a row of fabrics/catalog.hpp
  LinkType link;                      ///< NIC to first switch
  Time switch_latency{};              ///< added per switch passed
  LinkType uplink;                    ///< between switches; defaults to `link`
  bool in_network_reduction = false;  ///< switches that reduce (InfiniBand SHARP), used by CollNet
  int nvlink_domain = 1;  ///< consecutive nodes whose GPUs one NVLink fabric joins (NVL72): one node to NCCL
  PathChoice ecmp = PathChoice::destination;
  /// Mean share of a link between switches other jobs use; none: that of the kind of site
  std::optional<double> background_load;
  SourceSpan span{};
};

/// Kinds that a cluster file may have.
inline constexpr std::size_t kMostNodeKinds = 64;

/// Nodes of another kind than ClusterSpec::node: another partition, or another generation. What leads a job
/// to nodes of the first kind is in ClusterSpec::site.
struct NodeKind {
  std::string name;
  int nodes = 1;
  NodeSpec node;
  std::optional<LinkType> link{};  ///< of its NICs, where they have another than the fabric's
  SourceSpan span{};
  std::string gpu_type{};                  ///< as Site::gpu_type
  std::vector<std::string> constraints{};  ///< as Site::constraints
  std::optional<FabricSpec> fabric{};      ///< a network of their own
};

/// A cluster as its file describes it: types of node, how many there are, the fabric and its links.
/// make_cluster() turns it into the graph that is simulated.
struct ClusterSpec {
  std::string name, description;
  std::string machine{};  ///< which it is in another setting; empty: one of its own
  int nodes = 1;          ///< of all kinds
  NodeSpec node;
  FabricSpec fabric;
  std::vector<StorageSpec> storage;  ///< what is known of the machine's; other kinds are usual_storage()
  Site site{};                       ///< how jobs get it
  Calibration calibration{};         ///< measured on it; empty: data sheets and the residuals of others
  bool collectives_measured = false, trainings_measured = false;  ///< the constants in use know it
  std::string node_kind = "node";                                 ///< what the kind of `node` is called
  std::vector<NodeKind> more_nodes{};                             ///< the other kinds (node_kinds.hpp)
  double kernel_speed = 1,
         link_speed = 1;  ///< what if kernels, and all that goes between GPUs, were so fast?
};

}  // namespace foretrain
