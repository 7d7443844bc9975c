// A Machine is what files of other tools say of a node and of the network around it, before it is written as
// a cluster file.
// It holds devices as a tree over PCIe, the links that join GPUs, the host and the network. What no file says
// keeps its default, which stands for "unknown".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/graph.hpp"

namespace foretrain {

/// The kinds of device that files of other tools list for a node.
enum class PartKind : std::uint8_t { socket, pcie_switch, gpu, adapter };

/// A device of the node. Parents stand before their children in Machine::parts; sockets have no parent.
struct MachinePart {
  PartKind kind = PartKind::socket;
  /// Index of a socket or switch in Machine::parts; -1 for none.
  int parent = -1;
  /// Name of an adapter, such as "mlx5_0", or product of a GPU.
  std::string name{};
  /// PCI address in lower case, such as "0000:07:00.0"; empty when unknown.
  std::string bus{};
  /// PCI vendor and device in hexadecimal, such as "10de:20b2"; empty when unknown.
  std::string pci_device{};
  /// Generation and lanes of the PCIe link to the device above; 0 when unknown.
  int generation = 0;
  int lanes = 0;
  /// CUDA's compute capability of a GPU, such as 8.0; 0 when unknown.
  double compute_capability = 0;
  /// Rate of an adapter's port in Gb/s (10^9 bit/s); 0 when unknown.
  double network_gbps = 0;
  /// True when the adapter's port runs Ethernet, not InfiniBand.
  bool is_ethernet = false;
  /// Number of a socket as a NUMA node; -1 when unknown. A physical socket may have several NUMA nodes.
  int numa = -1;
  friend bool operator==(const MachinePart&, const MachinePart&) = default;
};

/// Direct links of a GPU, NVLinks or AMD's Infinity Fabric, to another GPU. If `other` is -1, they go to
/// NVSwitches.
/// Each pair stands once. GPUs are numbered in the order of of_kind(PartKind::gpu). A count of 0 means that
/// the GPUs are linked by an unknown number of links.
struct MachineNvlinks {
  int gpu = 0, other = -1, count = 0;
  friend bool operator==(const MachineNvlinks&, const MachineNvlinks&) = default;
};

/// The place of a machine's facts, for comments in the cluster file and for messages.
struct FactPlace {
  std::string file;
  /// Line from 1; 0 stands for the file as a whole.
  int line = 0;
  friend bool operator==(const FactPlace&, const FactPlace&) = default;
};
/// Returns "topo.xml:12", or the file alone when the line is 0.
std::string to_string(const FactPlace& place);

/// A warning about the machine itself, which a cluster file cannot express: a port that is down, PCIe lanes
/// that were not trained.
/// `hint` says what to do about it.
struct MachineWarning {
  FactPlace place;
  std::string what, hint;
  friend bool operator==(const MachineWarning&, const MachineWarning&) = default;
};

/// The switches between nodes, as far as a file describes them.
struct MachineFabric {
  /// Number of nodes; 0 when unknown.
  int nodes = 0;
  /// Hosts of the leaf switch that has most of them; 0 for one switch, or unknown.
  int nodes_per_leaf = 0;
  /// Links from a leaf to the switches above; 0 when unknown.
  int uplinks_per_leaf = 0;
  /// Levels of switches, 1 for a single switch; 0 when unknown.
  int levels = 0;
  /// Rate of the link of a host in Gb/s; 0 when unknown.
  double gbps = 0;
  friend bool operator==(const MachineFabric&, const MachineFabric&) = default;
};

/// A node as a file of another tool describes it. Facts that no file gives keep their defaults; joined()
/// fills them from other files.
struct Machine {
  /// Name of the file's format, from the catalog.
  std::string format;
  /// Place where the devices stand.
  FactPlace place;
  std::vector<MachinePart> parts;
  std::vector<MachineNvlinks> nvlinks;
  /// True when the file would list NVLinks if there were any. Otherwise an empty `nvlinks` says nothing.
  bool tells_nvlinks = false;
  /// Says whether GPUs can read each other's memory; no value when unknown.
  std::optional<bool> peer_access{};
  /// Number of GPUs where a file counts them without placing them.
  int gpu_count = 0;
  /// True when a file of a node says that it has no GPU.
  bool has_no_gpu = false;
  /// True when the file lists every PCI device, so a GPU that is not listed does not exist.
  bool lists_devices = false;
  /// Network interface that NCCL used for TCP sockets instead of an adapter; empty when unknown.
  std::string sockets_on;
  /// Product as the tool names it, such as "NVIDIA A100-SXM4-80GB" or "v100".
  std::string gpu_product;
  /// Memory of one GPU in bytes, as its driver shows it; 0 when unknown.
  Bytes gpu_memory{};
  std::string cpu_model;
  std::optional<HostFamily> family{};
  /// Sockets and physical cores of the node; 0 when unknown.
  int sockets = 0, cores = 0;
  /// Host memory of the node in bytes; 0 when unknown.
  Bytes memory{};
  MachineFabric fabric;
  /// The way in which jobs get these nodes. A batch system of `none` means that no file says.
  Site site{};
  /// Sentences for people about what was left out or assumed while reading.
  std::vector<std::string> remarks;
  /// Warnings about the machine itself.
  std::vector<MachineWarning> doubts{};
  /// Channels that NCCL found on this machine; graph_checks() compares them with foretrain's search.
  std::vector<nccl::GraphResult> graphs;

  /// Names of the ports of one host, as files of the network list them; a name may be empty.
  std::vector<std::string> host_adapters{};
  /// True when `cores` counts only the cores that processes with a GPU are bound to.
  bool affinity_cores = false;
  /// Names of the nodes, where a batch system lists them.
  std::vector<std::string> hosts{};
  /// Lists of nodes, one for each partition of `site.partitions` and in that order; an empty list is unknown.
  std::vector<std::string> partition_hosts{};
  /// The other kinds of node of the same site.
  std::vector<Machine> other_kinds{};

  /// Returns the indices of the parts of a kind, in their order. Linear in the number of parts.
  std::vector<int> of_kind(PartKind kind) const;
};

/// Returns the number of GPUs, whether they are placed or only counted; 0 when unknown.
int gpus_of(const Machine& machine);

/// The user's choice of a kind of node, where files describe several.
struct MeantNodes {
  /// Keep only nodes of this partition; empty for all.
  std::string partition{};
  /// Name of a GPU in the catalog; empty when the user gives none.
  std::string gpu{};
};

/// Joins the facts of all files into one machine. Devices come from the file that places most of them, other
/// facts from the first file that has them.
/// Where a file describes several kinds of node, every other file belongs to the kind with its GPUs, or to
/// all kinds if it has no GPUs.
/// Throws InputError with both places where two files count GPUs differently, and with the kinds where a file
/// may belong to several.
Machine joined(const std::vector<Machine>& machines, const MeantNodes& meant = {});

/// Does the same for files that describe one kind of node. Throws InputError on contradictions, and when all
/// files hold only NCCL's channels.
/// Requires at least one machine.
Machine joined_node(const std::vector<Machine>& machines);

/// Says whether two names cannot mean the same product, as with "NVIDIA A100-SXM4-80GB" and "v100".
/// Names without the number of a product, which sites invent, contradict nothing.
bool are_different_products(std::string_view one, std::string_view other);

/// Returns a kind of node in words, such as "a40, 8 GPUs", for messages.
std::string kind_of_node_in_words(const Machine& machine);

}  // namespace foretrain
