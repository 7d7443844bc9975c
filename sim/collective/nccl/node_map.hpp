// A node as NCCL's search sees it: the job's GPUs, the NICs, and the path between any two of them.
#pragma once

#include <span>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/link_bandwidth.hpp"
#include "sim/collective/nccl/settings.hpp"

namespace foretrain::nccl {

/// The share of traffic that also loads the reverse direction: traffic into old GPUs and through POWER CPUs.
enum class ReverseTraffic : std::uint8_t { none, eighth, all };

/// A hop of a path between two devices of a node: the link, and its reverse direction.
struct PathStep {
  int link = 0, back_link = 0;
  bool pcie = false;
  ReverseTraffic reverse_load = ReverseTraffic::none;
};

/// A path between two devices of a node. A device's path to itself is `reachable` and has no steps.
struct NodePath {
  std::vector<PathStep> steps;
  PathClass type = PathClass::loc;
  Milli bandwidth = 0;
  bool reachable = false;
  /// The path goes from a GPU through one Intel CPU, so PCIe carries 6/5 (12/9 until 2.8) of the data.
  bool through_intel_root = false;
  int hops() const { return static_cast<int>(steps.size()); }
};

/// The input of a map.
struct NodeMapInput {
  const NodeSpec& node;
  /// Link from the NIC to the fabric.
  const LinkType& network;
  /// GPU indices of the node that belong to the job, ascending.
  std::span<const int> gpus;
  bool several_nodes = false;
  const Settings& settings;
};

/// The node as NCCL sees it: devices, links with the bandwidth that NCCL assumes, and for each pair of
/// devices the best path with its class (src/graph/paths.cc; docs/sources/nccl_tuning.md 4.2). Immutable once
/// built.
class NodeMap {
 public:
  /// Builds the map. Requires at least one GPU, and links that name devices of the node.
  static NodeMap build(const NodeMapInput& input);

  /// GPUs have places 0, 1, … among the job's GPUs on this node. NICs are 0, 1, …; there are none if the job
  /// has one node.
  int gpus() const { return gpus_; }
  int gpu_number(int place) const { return gpu_numbers_[static_cast<std::size_t>(place)]; }
  int nics() const { return nics_; }
  int compute_capability() const { return compute_capability_; }
  bool has_switch() const { return has_switch_; }
  bool amd_cpu() const { return amd_cpu_; }

  const NodePath& gpu_to_gpu(int from, int to) const { return gpu_to_gpu_[at(from, to, gpus_)]; }
  const NodePath& gpu_to_nic(int gpu, int nic) const { return gpu_to_nic_[at(gpu, nic, nics_)]; }
  const NodePath& nic_to_gpu(int nic, int gpu) const { return nic_to_gpu_[at(nic, gpu, gpus_)]; }
  /// Return the paths to and from the NVSwitch. Require has_switch().
  const NodePath& gpu_to_switch(int gpu) const { return gpu_to_switch_[static_cast<std::size_t>(gpu)]; }
  const NodePath& switch_to_gpu(int gpu) const { return switch_to_gpu_[static_cast<std::size_t>(gpu)]; }

  /// Capacity of every directed link.
  const std::vector<Milli>& links() const { return links_; }
  Milli nic_rate(int nic) const { return nic_rates_[static_cast<std::size_t>(nic)]; }
  /// Returns the bandwidth of the widest path from a GPU out of the NIC.
  Milli nic_reach(int nic) const;
  Milli pcie_rate(int gpu) const { return pcie_rates_[static_cast<std::size_t>(gpu)]; }
  /// Bandwidth of a GPU over NVLink alone.
  Milli nvlink_rate(int gpu) const { return nvlink_rates_[static_cast<std::size_t>(gpu)]; }
  /// Widest path to a NIC, or on one node to another GPU.
  Milli best_path() const { return best_path_; }
  /// Largest bandwidth of any GPU, over the better of NVLink and PCIe.
  Milli best_gpu() const { return best_gpu_; }
  /// NVLinks out of a GPU, one entry for each neighbour.
  const std::vector<Milli>& nvlinks(int gpu) const { return nvlinks_[static_cast<std::size_t>(gpu)]; }

  /// GPUs with the widest, then nearest path to a NIC; empty if there is none.
  const std::vector<int>& local_gpus(int nic) const { return local_gpus_[static_cast<std::size_t>(nic)]; }
  /// Returns the NICs that a GPU would use, best first. GPUs with the same choice use them in turn.
  std::vector<int> local_nics(int gpu) const;
  /// Returns the NICs for a GPU: its own choices, then all that are not farther than `limit`. For `gpu` -1 it
  /// begins with the first choices of all GPUs in turn.
  std::vector<int> nics_for(int gpu, PathClass limit) const;
  /// Returns the GPU that relays to a NIC for others; -1: none.
  int relay_to(int nic) const;

 private:
  friend class NodeMapBuilder;
  static std::size_t at(int row, int column, int columns) {
    return static_cast<std::size_t>(row * columns + column);
  }

  int gpus_ = 0, nics_ = 0, compute_capability_ = 70;
  bool has_switch_ = false, amd_cpu_ = false;
  std::vector<NodePath> gpu_to_gpu_, gpu_to_nic_, nic_to_gpu_, gpu_to_switch_, switch_to_gpu_;
  std::vector<Milli> links_, nic_rates_, pcie_rates_, nvlink_rates_;
  std::vector<std::vector<Milli>> nvlinks_;
  std::vector<std::vector<int>> local_gpus_, best_nics_;
  std::vector<int> gpu_numbers_;
  Milli best_path_ = 0, best_gpu_ = 0;
};

/// The devices in NCCL's graph of a node. A port is the network side of a NIC.
enum class DeviceKind : std::uint8_t { gpu, cpu, pcie_switch, nvswitch, nic, port };

/// The kinds of link in NCCL's graph of a node. Each kind has a bandwidth of its own by version and hardware.
enum class BookedKind : std::uint8_t { nvlink, c2c, pcie, socket, network };

/// A direction of a link. Link 2i + 1 is the reverse of link 2i.
struct BookedLink {
  int from = 0, to = 0;
  BookedKind kind = BookedKind::pcie;
  Milli bandwidth = 0;
};

/// The devices and links of a node before paths are found: the first half of a NodeMap.
struct NodeLinks {
  /// The job's GPUs come first.
  std::vector<DeviceKind> devices;
  std::vector<BookedLink> links;
  /// Links that leave each device, widest first.
  std::vector<std::vector<int>> out;
  /// A port is the network side of a NIC.
  int first_port = 0, ports = 0;
  /// The one device that stands for all NVSwitches; -1: none.
  int nvswitch = -1;
  std::vector<int> cpus;

  /// Reads devices and links as NCCL would read them from the machine.
  static NodeLinks read(const NodeMapInput& input);
};

/// Returns the paths from every device to `base`, found breadth first: fewest hops, then the widest. GPUs
/// relay NVLink for one hop.
std::vector<NodePath> paths_to(const NodeLinks& node, int base, bool old_gpu, bool power_cpu);

}  // namespace foretrain::nccl
