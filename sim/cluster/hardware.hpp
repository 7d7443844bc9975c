// Parts of a machine as data sheets and measurements describe them: GPU, link type, node, fabric and cluster.
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

/// Generations of GPUs, in the order of their years. `cpu` means that there is no GPU: the cores of the host
/// compute, and device memory is host memory. `cdna` and its successors are AMD's.
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

/// Links by which a GPU is attached to a node if a new cluster file does not state them. A cluster that
/// exists uses its own links.
struct GpuPorts {
  /// Link to a CPU or a PCIe switch.
  std::string host;
  /// Type of NVLink; empty: none.
  std::string nvlink;
  /// NVLinks of one GPU.
  int nvlinks = 0;
  /// A bridge joins two cards; otherwise the board has the links.
  bool bridged = false;
  bool peer_access = true;
  friend bool operator==(const GpuPorts&, const GpuPorts&) = default;
};

/// A GPU with its dense peak rates, without sparsity. A rate of 0 means that the hardware does not support
/// the format.
struct Gpu {
  std::string name;
  Architecture architecture = Architecture::volta;
  double compute_capability = 7.0;
  /// Peak rates.
  FlopRate fp64{}, fp32{}, tf32{}, fp16{}, bf16{},
      fp8{};  ///< fp16, bf16, fp8: of tensor cores if the GPU has them
  /// Capacity in the data sheet.
  Bytes memory{};
  /// Capacity that the driver leaves to programs (nvidia-smi's total); 0 = `memory`.
  Bytes usable_memory{};
  /// Bandwidth in the data sheet.
  ByteRate memory_bandwidth{};
  /// Share of the data sheet's bandwidth that streaming kernels reach.
  double memory_efficiency = 0.8;
  Bytes l2_cache{};
  int sm_count = 0;
  /// Board power in watts; 0: unknown.
  double tdp_w = 0;
  /// Clock under training load over the clock of the data sheet's rates. Cards with a small power budget fall
  /// below 1.
  double sustained_clock = 1;
  /// Share of the host link's rate that kernels reach in each direction when peers exchange data through host
  /// memory.
  double staging_share = 0.64;
  GpuPorts ports{};
  /// The constants of kernels were fitted with trainings on this GPU.
  bool trainings_measured = false;
  Bytes capacity() const { return usable_memory.count > 0 ? usable_memory : memory; }
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

/// The technology of a link. It decides which figures a link file may have, and how NCCL classifies a path
/// over it.
enum class LinkKind { pcie, nvlink, socket, network };

/// A type of link: the figures of one lane group, per direction.
struct LinkType {
  std::string name;
  LinkKind kind = LinkKind::pcie;
  /// Bandwidth that a plain copy reaches.
  ByteRate bandwidth{};
  /// Rate of the wire, which no measurement may exceed; 0: unknown.
  ByteRate line_rate{};
  /// Share of the bandwidth that NCCL's Simple protocol reaches.
  double collective_efficiency = 1;
  /// Latency of one hop for a small message.
  Time latency{};
  /// Bandwidth that NCCL's graph search assumes for it (src/graph/topo.h); 0: by GPU for NVLink, else
  /// `bandwidth`.
  ByteRate nccl_bandwidth{};
  /// Time of one step of a collective between two nodes for a small message: proxies, NIC and wire. 0:
  /// unknown.
  Time collective_latency{};
  /// Additional latency of messages beyond `eager_limit`.
  Time rendezvous_latency{};
  /// Largest message that needs no handshake; 0: no message needs one.
  Bytes eager_limit{};
  /// Time of a rank's proxy for each message; messages queue for it.
  Time message_gap{};
  /// The same in jobs of more than `crowded_nodes` nodes.
  Time crowded_message_gap{};
  /// 0: the number of nodes does not change the gap.
  int crowded_nodes = 0;
  /// TCP connections of a channel; 0: as many as the wire needs.
  int flows = 0;
  /// Threads that serve only those connections; 0: the rank's proxy serves them.
  int flow_threads = 0;
  /// Largest rate of one TCP connection; 0: limited by the wire only.
  ByteRate flow_bandwidth{};
  /// Latency that the network plug-in reports to NCCL.
  Time nccl_latency{};
  /// NCCL_BUFFSIZE as the plug-in sets it; 0: it does not set it.
  Bytes nccl_buffer{};
  /// Restrictions of NCCL's choice by the plug-in, or by its maker's settings.
  bool simple_only = false, ring_only = false;
  /// Additional time of a message up to `inject_limit`, which the CPU copies into the command.
  Time inject_latency{};
  /// Largest message that is sent within its command; 0: none is.
  Bytes inject_limit{};
  /// Limit of messages that the receiver's CPU copies into the GPU, by a call of its driver. These messages
  /// need no handshake and are larger than those sent within the command. 0: there is no such copy.
  Bytes copy_limit{};
  /// Latency of such a copy.
  Time copy_latency{};
  /// Rate of its bytes; 0: the latency is all.
  ByteRate copy_rate{};
  /// Time of the proxy for a message beyond `eager_limit`, if it is more than message_gap.
  Time rendezvous_gap{};
  friend bool operator==(const LinkType&, const LinkType&) = default;
};

/// CPU generations that NCCL distinguishes when it assigns a bandwidth to the link between sockets and
/// chooses protocols.
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
  /// Single-thread time relative to the reference CPU of the host-time table (Zen 5, 1.0); larger = slower.
  double slowdown = 1;
  Bytes memory{};
  /// Rate of memcpy on one core, for pinning batches.
  ByteRate memory_bandwidth{};
  /// Power in watts of a working node without its GPUs; 0: unknown.
  double power_w = 0;
  /// Rate of all drives of the node that a training swaps to; 0: unknown.
  ByteRate nvme_read{}, nvme_write{};
  friend bool operator==(const Host&, const Host&) = default;
};

/// A connection inside a node, between devices named "gpu0", "cpu1", "switch0", "nvswitch0" or "nic0".
struct NodeLink {
  std::string a, b;
  LinkType type;
  /// Number of parallel links, whose bandwidths add.
  int count = 1;
  SourceSpan span{};
  friend bool operator==(const NodeLink&, const NodeLink&) = default;
};

/// A type of node as its file describes it: GPUs, CPUs, NICs, and the links between them. It is a value
/// without an identity; a cluster repeats it.
struct NodeSpec {
  int gpus = 0, cpus = 1, switches = 0, nvswitches = 0, nics = 0;
  Gpu gpu;
  Host host;
  /// GPUs may read each other's memory over PCIe; otherwise their traffic is staged through host memory.
  bool peer_access = true;
  /// NICs access GPU memory (GPUDirect RDMA); otherwise messages are staged through host memory.
  bool gpudirect = true;
  /// The farthest NIC that accesses GPU memory (NCCL_NET_GDR_LEVEL). Messages of NICs beyond it are staged.
  PathClass gpudirect_reach = PathClass::pxb;
  /// The NVSwitches reduce and multicast (NVLink SHARP, Hopper and later).
  bool multicast = false;
  std::vector<NodeLink> links;
  friend bool operator==(const NodeSpec&, const NodeSpec&) = default;
};

/// A connection of an `explicit` fabric: two switches, or a switch and a NIC ("node3.nic0"), or a switch and
/// a range of NICs ("node0-17.nic1", "node4").
struct FabricLink {
  std::string a, b;
  LinkType type;
  /// Number of parallel links, whose bandwidths add.
  int count = 1;
  SourceSpan span{};
};

/// Rule by which a switch chooses between equally short routes: by the receiving NIC alone (InfiniBand's
/// static tables), or by a hash of both ends (Ethernet's ECMP). Both are deterministic.
enum class PathChoice { destination, flow };

/// The network between nodes. Options that only one kind has, such as the nodes below a leaf, are in that
/// kind's own struct in fabrics/ and held by the base class.
struct FabricSpec : HeldOptions {
  /// Name of a row of fabrics/catalog.hpp.
  std::string kind;
  /// Link from the NIC to the first switch.
  LinkType link;
  /// Added for each switch passed.
  Time switch_latency{};
  /// Between switches; defaults to `link`.
  LinkType uplink;
  /// The switches reduce (InfiniBand SHARP), which CollNet uses.
  bool in_network_reduction = false;
  /// Consecutive nodes whose GPUs one NVLink fabric joins (NVL72). They are one node to NCCL.
  int nvlink_domain = 1;
  PathChoice ecmp = PathChoice::destination;
  /// Mean share of a link between switches that other jobs use; none: the value of the kind of site.
  std::optional<double> background_load;
  SourceSpan span{};
};

/// Largest number of kinds of node in a cluster file.
inline constexpr std::size_t kMostNodeKinds = 64;

/// Nodes of another kind than ClusterSpec::node: another partition, or another generation. Whatever leads a
/// job to nodes of the first kind is in ClusterSpec::site.
struct NodeKind {
  std::string name;
  int nodes = 1;
  NodeSpec node;
  /// Link of its NICs if it differs from the fabric's.
  std::optional<LinkType> link{};
  SourceSpan span{};
  /// The same as Site::gpu_type.
  std::string gpu_type{};
  /// The same as Site::constraints.
  std::vector<std::string> constraints{};
  /// A network of its own.
  std::optional<FabricSpec> fabric{};
};

/// A cluster as its file describes it: types of node with their numbers, the fabric and its links.
/// Cluster::build() turns it into the graph that is simulated.
struct ClusterSpec {
  std::string name, description;
  /// Name of the machine, of which this is another setting; empty: a machine of its own.
  std::string machine{};
  /// Nodes of all kinds.
  int nodes = 1;
  NodeSpec node;
  FabricSpec fabric;
  /// Known storage of the machine; for other kinds usual_storage() holds.
  std::vector<StorageSpec> storage;
  /// The rules by which jobs get nodes.
  Site site{};
  /// Measured on this cluster; empty: data sheets and the residuals of other clusters.
  Calibration calibration{};
  /// The constants in use were fitted with measurements of this cluster.
  bool collectives_measured = false, trainings_measured = false;
  /// Name of the kind of `node`.
  std::string node_kind = "node";
  /// The other kinds (node_kinds.hpp).
  std::vector<NodeKind> more_nodes{};
  /// Factors of a what-if question: speed of kernels, and of everything between GPUs.
  double kernel_speed = 1,
         link_speed = 1;  ///< what if kernels, and all that goes between GPUs, were so fast?
};

}  // namespace foretrain
