// What tools print of a machine, before it is a cluster file: its devices as a tree over PCIe, what joins
// GPUs, the host, the network around it. What no file says stays empty.
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

/// A device of the node. Parents stand before their children; sockets have none.
struct MachinePart {
  PartKind kind = PartKind::socket;
  int parent = -1;           ///< index of a socket or switch; -1: none
  std::string name{};        ///< "mlx5_0", or a GPU's product
  std::string bus{};         ///< PCI address, lower case
  std::string pci_device{};  ///< "10de:20b2": vendor and device
  int generation = 0;        ///< of its PCIe link upwards; 0: not said
  int lanes = 0;             ///< likewise
  double compute_capability = 0;
  double network_gbps = 0;   ///< of an adapter's port; 0: not said
  bool is_ethernet = false;  ///< so an adapter's port runs
  int numa = -1;             ///< number of a socket as a NUMA node, of which a socket may have several
  friend bool operator==(const MachinePart&, const MachinePart&) = default;
};

/// NVLinks, or AMD's links, of a GPU to another or, with other = -1, to NVSwitches. Each pair stands once.
/// Numbers of GPUs in the order of Machine::gpus(). count = 0: linked, and how often is not said.
struct MachineNvlinks {
  int gpu = 0, other = -1, count = 0;
  friend bool operator==(const MachineNvlinks&, const MachineNvlinks&) = default;
};

/// Where a machine's facts stand, for comments and mistakes.
struct FactPlace {
  std::string file;
  int line = 0;  ///< 0: the file as a whole
  friend bool operator==(const FactPlace&, const FactPlace&) = default;
};
/// "topo.xml:12", or the file alone.
std::string to_string(const FactPlace& place);

/// What looks wrong on the machine itself and no cluster file can say: a port that is down, lanes that were
/// not trained.
struct MachineWarning {
  FactPlace place;
  std::string what, hint;
  friend bool operator==(const MachineWarning&, const MachineWarning&) = default;
};

/// Switches between nodes as far as a file tells.
struct MachineFabric {
  int nodes = 0;           ///< 0: not said
  int nodes_per_leaf = 0;  ///< of the fullest leaf; 0: one switch, or not said
  int uplinks_per_leaf = 0;
  int levels = 0;   ///< of switches
  double gbps = 0;  ///< of a link of a host; 0: not said
  friend bool operator==(const MachineFabric&, const MachineFabric&) = default;
};

/// A node as a file of another tool describes it: devices as a tree, NVLinks, and what the file leaves open.
struct Machine {
  std::string format;  ///< what the file is
  FactPlace place;     ///< of its devices
  std::vector<MachinePart> parts;
  std::vector<MachineNvlinks> nvlinks;
  bool tells_nvlinks = false;         ///< otherwise none in `nvlinks` does not mean that there are none
  std::optional<bool> peer_access{};  ///< whether GPUs reach each other's memory
  int gpu_count = 0;                  ///< where a file counts GPUs and does not place them
  bool has_no_gpu = false;            ///< a file of a node says so
  bool lists_devices = false;         ///< every PCI device is listed: a GPU that is not there is none
  std::string sockets_on;             ///< the interface that NCCL fell back to; empty: not said
  std::string gpu_product;            ///< "NVIDIA A100-SXM4-80GB", "v100"
  Bytes gpu_memory{};                 ///< of one GPU, as its driver shows it; 0: not said
  std::string cpu_model;
  std::optional<HostFamily> family{};
  int sockets = 0, cores = 0;  ///< of the node; 0: not said
  Bytes memory{};              ///< of the node; 0: not said
  MachineFabric fabric;
  Site site{};                       ///< how jobs get it; system none: not said
  std::vector<std::string> remarks;  ///< what was left out and why
  std::vector<MachineWarning> doubts{};
  std::vector<nccl::GraphResult> graphs;  ///< what NCCL itself found on it, a check of our search

  std::vector<std::string> host_adapters{};  ///< of a host of the network; names may be empty
  bool affinity_cores = false;               ///< `cores` are those that processes of GPUs are bound to
  std::vector<std::string> hosts{};  ///< names of its nodes, where a table of a batch system lists them
  /// By the place of a partition in `site`: the list of its nodes; empty: not said.
  std::vector<std::string> partition_hosts{};
  std::vector<Machine> other_kinds{};  ///< other kinds of node of the same site

  /// Indices of the parts of a kind, in order.
  std::vector<int> of_kind(PartKind kind) const;
};

/// The number of GPUs, placed or only counted; 0: not said.
int gpus_of(const Machine& machine);

/// Which kind of node is meant where files tell of several.
struct MeantNodes {
  std::string partition{};  ///< only the nodes of this one; empty: all
  std::string gpu{};        ///< a name of the catalog; empty: not said
};

/// Every file's facts as one machine: devices from the file that places most of them, the rest from whichever
/// says it. Where a file tells of several kinds of node, every other file is of the kind that has its GPUs,
/// or of all kinds where it tells none. Throws InputError, with both places, where two files count GPUs
/// differently, and with the kinds where a file may be of several.
Machine joined(const std::vector<Machine>& machines, const MeantNodes& meant = {});

/// The same of files that are of one kind of node.
Machine joined_node(const std::vector<Machine>& machines);

/// Whether two products cannot be the same: "NVIDIA A100-SXM4-80GB" and "v100". Names that sites make up
/// contradict nothing.
bool are_different_products(std::string_view one, std::string_view other);

/// "a40, 8 GPUs", for messages.
std::string kind_of_node_in_words(const Machine& machine);

}  // namespace foretrain
