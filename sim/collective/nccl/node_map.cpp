// The map is built in two phases. First the shortest paths are found. Then paths that NCCL would not take are
// replaced: without peer access through the CPU's memory, to a far NIC through a GPU near it (PXN), without
// GPUDirect through the CPU.
//
// Paths are ranked by class first and by bandwidth second, as in NCCL: a path through one PCIe switch is
// better than a faster one through the host bridge. The class decides whether peers may use direct access and
// whether a NIC may reach GPU memory.
#include "sim/collective/nccl/node_map.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace foretrain::nccl {

/// Builder of a NodeMap. The order of the steps in build() is NCCL's, because later steps depend on replaced
/// paths.
class NodeMapBuilder {
 public:
  explicit NodeMapBuilder(const NodeMapInput& input) : input_(input), node_(NodeLinks::read(input)) {
    map_.gpus_ = static_cast<int>(input.gpus.size());
    map_.nics_ = node_.ports;
    map_.compute_capability_ = static_cast<int>(std::lround(input.node.gpu.compute_capability * 10));
    map_.has_switch_ = node_.nvswitch >= 0;
    map_.amd_cpu_ = input.node.host.family == HostFamily::amd;
    map_.gpu_numbers_.assign(input.gpus.begin(), input.gpus.end());
  }

  NodeMap build() {
    find_paths();
    read_rates();
    avoid_missing_peer_access();
    find_local_gpus();
    relay_to_far_nics();
    avoid_missing_gpudirect();
    find_best_nics();
    find_best_path();
    return std::move(map_);
  }

 private:
  using Paths = std::vector<NodePath>;

  bool since(int minor, int patch = 0) const { return input_.settings.version >= Version{2, minor, patch}; }
  NodePath& gpu_to_gpu(int a, int b) { return map_.gpu_to_gpu_[NodeMap::at(a, b, map_.gpus_)]; }
  NodePath& gpu_to_nic(int g, int n) { return map_.gpu_to_nic_[NodeMap::at(g, n, map_.nics_)]; }
  NodePath& nic_to_gpu(int n, int g) { return map_.nic_to_gpu_[NodeMap::at(n, g, map_.gpus_)]; }
  int port(int nic) const { return node_.first_port + nic; }

  /// Returns the paths from all devices to one device.
  Paths paths_toward(int device) const {
    const bool old_gpu = map_.compute_capability_ < 80, power = input_.node.host.family == HostFamily::power9;
    return paths_to(node_, device, old_gpu, power);
  }

  /// Finds the paths between GPUs, NICs, CPUs and the switch.
  void find_paths() {
    const auto gpus = static_cast<std::size_t>(map_.gpus_), nics = static_cast<std::size_t>(map_.nics_);
    map_.gpu_to_gpu_.resize(gpus * gpus), map_.gpu_to_nic_.resize(gpus * nics),
        map_.nic_to_gpu_.resize(gpus * nics);
    for (int to = 0; to < map_.gpus_; ++to) into_gpu(to, to_gpu_.emplace_back(paths_toward(to)));
    for (int nic = 0; nic < map_.nics_; ++nic) {
      const Paths& paths = to_port_.emplace_back(paths_toward(port(nic)));
      for (int from = 0; from < map_.gpus_; ++from)
        gpu_to_nic(from, nic) = marked(paths[static_cast<std::size_t>(from)]);
    }
    for (const int cpu : node_.cpus) to_cpu_.push_back(paths_toward(cpu));
    if (!map_.has_switch_) return;
    const Paths to_switch = paths_toward(node_.nvswitch);
    map_.gpu_to_switch_.assign(to_switch.begin(), to_switch.begin() + map_.gpus_);
  }

  /// Enters the paths from all devices into one GPU.
  void into_gpu(int to, const Paths& paths) {
    for (int from = 0; from < map_.gpus_; ++from)
      gpu_to_gpu(from, to) = marked(paths[static_cast<std::size_t>(from)]);
    for (int nic = 0; nic < map_.nics_; ++nic)
      nic_to_gpu(nic, to) = paths[static_cast<std::size_t>(port(nic))];
    if (map_.has_switch_) map_.switch_to_gpu_.push_back(paths[static_cast<std::size_t>(node_.nvswitch)]);
  }

  /// Returns the path as one that starts at a GPU: without reverse load in GPUs, but with Intel's overhead if
  /// it goes through one CPU.
  NodePath marked(NodePath path) const {
    for (PathStep& step : path.steps) {
      if (step.reverse_load == ReverseTraffic::eighth) step.reverse_load = ReverseTraffic::none;
    }
    path.through_intel_root = path.type == PathClass::phb && is_intel(input_.node.host.family);
    return path;
  }

  /// Returns two paths joined to one, with at least the given class.
  static NodePath joined(const NodePath& first, const NodePath& second, PathClass at_least) {
    NodePath path = first;
    path.steps.insert(path.steps.end(), second.steps.begin(), second.steps.end());
    path.type = std::max({first.type, second.type, at_least});
    path.bandwidth = std::min(first.bandwidth, second.bandwidth);
    path.reachable = first.reachable && second.reachable;
    path.through_intel_root = false;
    return path;
  }

  /// Returns the index in node_.cpus of the CPU nearest to a device; -1: none.
  int nearest_cpu(int device) const {
    int best = -1;
    for (std::size_t c = 0; c < to_cpu_.size(); ++c) {
      const NodePath& path = to_cpu_[c][static_cast<std::size_t>(device)];
      if (!path.reachable) continue;
      if (best < 0 ||
          path.hops() < to_cpu_[static_cast<std::size_t>(best)][static_cast<std::size_t>(device)].hops())
        best = static_cast<int>(c);
    }
    return best;
  }

  /// Returns the path between two devices through the memory of the CPU nearest to `beside`.
  NodePath through_cpu(int from, int to, const Paths& paths_to_goal, int beside) const {
    const int cpu = nearest_cpu(beside);
    if (cpu < 0) return paths_to_goal[static_cast<std::size_t>(from)];
    const NodePath& up = to_cpu_[static_cast<std::size_t>(cpu)][static_cast<std::size_t>(from)];
    const NodePath& down = paths_to_goal[static_cast<std::size_t>(node_.cpus[static_cast<std::size_t>(cpu)])];
    NodePath path = joined(up, down, PathClass::phb);
    if (from == to) path.steps.clear();
    return path;
  }

  /// Returns the farthest class at which GPUs access each other directly: NCCL_P2P_LEVEL, or NCCL's default
  /// by CPU and version.
  PathClass peer_limit() const {
    if (!input_.settings.p2p) return PathClass::loc;
    if (input_.settings.p2p_level) return *input_.settings.p2p_level;
    const HostFamily family = input_.node.host.family;
    if (since(23) && !(family == HostFamily::amd && map_.gpus_ <= 2)) return PathClass::pxb;
    if (is_intel(family))
      return family != HostFamily::intel_broadwell && !since(9) ? PathClass::phb : PathClass::pxb;
    return family == HostFamily::arm ? PathClass::pxb : PathClass::sys;
  }

  /// Replaces paths between GPUs without peer access by paths through the CPU.
  void avoid_missing_peer_access() {
    const PathClass limit = peer_limit();
    for (int to = 0; to < map_.gpus_; ++to) {
      for (int from = 0; from < map_.gpus_; ++from) {
        if (from == to) continue;
        NodePath& path = gpu_to_gpu(from, to);
        const bool over_pcie = path.type > PathClass::c2c;
        if (path.type <= limit && (input_.node.peer_access || !over_pcie)) continue;
        path = marked(through_cpu(from, to, to_gpu_[static_cast<std::size_t>(to)], to));
      }
    }
  }

  /// Finds the GPUs nearest to each NIC.
  void find_local_gpus() {
    for (int nic = 0; nic < map_.nics_; ++nic) {
      std::vector<int>& local = map_.local_gpus_.emplace_back();
      for (int gpu = 0; gpu < map_.gpus_; ++gpu)
        keep_best(local, gpu, [&](int g) -> const NodePath& { return nic_to_gpu(nic, g); });
    }
  }

  /// Keeps the candidates with the widest path, and of these those with the best class.
  static void keep_best(std::vector<int>& list, int candidate, const auto& path_of) {
    const NodePath& path = path_of(candidate);
    if (!path.reachable) return;
    if (!list.empty()) {
      const NodePath& best = path_of(list.front());
      if (path.bandwidth < best.bandwidth || (path.bandwidth == best.bandwidth && path.type > best.type))
        return;
      if (path.bandwidth > best.bandwidth || path.type < best.type) list.clear();
    }
    list.push_back(candidate);
  }

  /// Replaces paths to far NICs by paths over NVLink to the GPU that is near the NIC (PXN).
  void relay_to_far_nics() {
    if (!since(12) || !input_.settings.pxn) return;
    find_best_nics();
    for (int nic = 0; nic < map_.nics_; ++nic) {
      const int relay = map_.relay_to(nic);
      if (relay < 0 || gpu_to_nic(relay, nic).type > PathClass::pxb) continue;
      for (int gpu = 0; gpu < map_.gpus_; ++gpu) {
        const NodePath& own = gpu_to_nic(gpu, nic);
        if (gpu == relay || gpu_to_gpu(gpu, relay).type > PathClass::nvl) continue;
        if (gpu_to_nic(relay, nic).bandwidth <= own.bandwidth && own.type <= PathClass::pxb) continue;
        relays_.push_back({gpu, nic, joined(gpu_to_gpu(gpu, relay), gpu_to_nic(relay, nic), PathClass::pxn)});
      }
    }
    for (Relay& relay : relays_) {
      relay.path.type = PathClass::pxn;
      gpu_to_nic(relay.gpu, relay.nic) = std::move(relay.path);
    }
  }

  /// Replaces paths between GPUs and NICs without GPUDirect by paths through the CPU.
  void avoid_missing_gpudirect() {
    const PathClass reach = input_.settings.gdr_level.value_or(input_.node.gpudirect_reach);
    for (int nic = 0; nic < map_.nics_; ++nic) {
      const int relay = since(12) && input_.settings.pxn ? map_.relay_to(nic) : -1;
      for (int gpu = 0; gpu < map_.gpus_; ++gpu) {
        PathClass distance = gpu_to_nic(gpu, nic).type;
        if (distance >= PathClass::phb) continue;
        if (distance == PathClass::pxn && relay >= 0) distance = gpu_to_nic(relay, nic).type;
        if (input_.node.gpudirect && distance <= reach) continue;
        gpu_to_nic(gpu, nic) =
            marked(through_cpu(gpu, port(nic), to_port_[static_cast<std::size_t>(nic)], gpu));
        nic_to_gpu(nic, gpu) = through_cpu(port(nic), gpu, to_gpu_[static_cast<std::size_t>(gpu)], gpu);
      }
    }
  }

  /// Finds the best NICs of each GPU.
  void find_best_nics() {
    map_.best_nics_.assign(static_cast<std::size_t>(map_.gpus_), {});
    for (int gpu = 0; gpu < map_.gpus_; ++gpu) {
      std::vector<int>& best = map_.best_nics_[static_cast<std::size_t>(gpu)];
      for (int nic = 0; nic < map_.nics_; ++nic)
        keep_best(best, nic, [&](int n) -> const NodePath& { return gpu_to_nic(gpu, n); });
    }
  }

  /// Reads the rates of links, NICs, PCIe and NVLinks.
  void read_rates() {
    for (const BookedLink& link : node_.links) map_.links_.push_back(link.bandwidth);
    map_.pcie_rates_.assign(static_cast<std::size_t>(map_.gpus_), 0);
    map_.nvlink_rates_ = map_.pcie_rates_;
    map_.nvlinks_.resize(static_cast<std::size_t>(map_.gpus_));
    for (const BookedLink& link : node_.links) {
      if (link.kind == BookedKind::network && link.from < link.to) map_.nic_rates_.push_back(link.bandwidth);
      if (link.from >= map_.gpus_) continue;
      const auto gpu = static_cast<std::size_t>(link.from);
      if (link.kind == BookedKind::pcie) map_.pcie_rates_[gpu] = link.bandwidth;
      if (link.kind != BookedKind::nvlink) continue;
      map_.nvlink_rates_[gpu] += link.bandwidth;
      map_.nvlinks_[gpu].push_back(link.bandwidth);
    }
  }

  /// Finds the widest path and the fastest GPU, which bound the speeds that the search tries.
  void find_best_path() {
    if (map_.nics_ == 0 && map_.gpus_ == 1) {
      map_.best_path_ = map_.best_gpu_ = kLocal;
      return;
    }
    for (std::size_t g = 0; g < map_.nvlink_rates_.size(); ++g) {
      map_.best_gpu_ = std::max({map_.best_gpu_, map_.nvlink_rates_[g], map_.pcie_rates_[g]});
    }
    for (const NodePath& path : map_.nics_ > 0 ? map_.gpu_to_nic_ : map_.gpu_to_gpu_) {
      if (path.reachable && path.hops() > 0) map_.best_path_ = std::max(map_.best_path_, path.bandwidth);
    }
  }

  /// A replaced path. Replacements are collected first and made afterwards.
  struct Relay {
    int gpu, nic;
    NodePath path;
  };

  const NodeMapInput& input_;
  NodeLinks node_;
  NodeMap map_;
  std::vector<Paths> to_gpu_, to_port_, to_cpu_;
  std::vector<Relay> relays_;
};

NodeMap NodeMap::build(const NodeMapInput& input) { return NodeMapBuilder(input).build(); }

namespace {

/// Returns the bits of a number in reverse order, so that neighbours get choices far apart. `choices` is a
/// power of two.
int mirrored(int value, int choices) {
  int result = 0;
  for (int up = 1, down = choices / 2; down > 0; up *= 2, down /= 2) {
    if ((value & up) != 0) result += down;
  }
  return result;
}

/// Appends the value if the list does not have it.
void append_new(std::vector<int>& list, int value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

}  // namespace

std::vector<int> NodeMap::local_nics(int gpu) const {
  const std::vector<int>& best = best_nics_[static_cast<std::size_t>(gpu)];
  std::vector<int> nics;
  if (best.empty()) return nics;
  const int count = static_cast<int>(best.size());
  const int sharers = std::max(1, static_cast<int>(local_gpus(best.front()).size()));
  int first = gpu_numbers_[static_cast<std::size_t>(gpu)];
  // NCCL reverses the bits of the GPU's number when the number of NICs is a power of two.
  if (std::has_single_bit(static_cast<unsigned>(count))) first = mirrored(first, count);
  const int turns = (count + sharers - 1) / sharers;
  for (int turn = 0; turn < turns; ++turn)
    append_new(nics, best[static_cast<std::size_t>((first + turn) % count)]);
  return nics;
}

std::vector<int> NodeMap::nics_for(int gpu, PathClass limit) const {
  const int first = gpu < 0 ? 0 : gpu, last = gpu < 0 ? gpus_ - 1 : gpu;
  std::vector<int> nics;
  for (int g = first; g <= last; ++g) {
    for (const int nic : local_nics(g)) append_new(nics, nic);
  }
  for (int type = 0; type <= static_cast<int>(limit); ++type) {
    for (int g = first; g <= last; ++g) {
      for (int nic = 0; nic < nics_; ++nic) {
        const NodePath& path = gpu_to_nic(g, nic);
        if (path.reachable && static_cast<int>(path.type) == type) append_new(nics, nic);
      }
    }
  }
  return nics;
}

Milli NodeMap::nic_reach(int nic) const {
  Milli widest = 0;
  for (int gpu = 0; gpu < gpus_; ++gpu) widest = std::max(widest, gpu_to_nic(gpu, nic).bandwidth);
  return std::min(widest, nic_rate(nic));
}

int NodeMap::relay_to(int nic) const {
  const std::vector<int>& near = local_gpus(nic);
  for (const int gpu : near) {
    const std::vector<int> choices = local_nics(gpu);
    if (std::ranges::find(choices, nic) != choices.end()) return gpu;
  }
  return -1;
}

}  // namespace foretrain::nccl
