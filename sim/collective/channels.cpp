// Ranks are grouped by node. Inside a node only the set of GPUs matters, so equal sets are searched once.
#include "sim/collective/channels.hpp"

#include <algorithm>
#include <utility>

#include "sim/collective/ring_search.hpp"

namespace foretrain {

namespace {

constexpr int kMostSearchedGpus = 8;
using Order = std::vector<int>;  ///< places in a group

/// The job's part of one node, by ascending GPU.
struct NodeGroup {
  int node = 0;
  std::vector<int> gpus, ranks;
};

std::vector<NodeGroup> group_by_node(const Cluster& cluster, const Placement& placement) {
  std::vector<std::vector<std::pair<int, int>>> by_node(static_cast<std::size_t>(cluster.nodes()));
  for (int rank = 0; rank < placement.size(); ++rank) {
    const GpuPlace& place = placement.ranks[static_cast<std::size_t>(rank)];
    by_node[static_cast<std::size_t>(place.node)].emplace_back(place.gpu, rank);
  }
  std::vector<NodeGroup> groups;
  for (std::size_t node = 0; node < by_node.size(); ++node) {
    if (by_node[node].empty()) continue;
    std::ranges::sort(by_node[node]);
    NodeGroup& group = groups.emplace_back();
    group.node = static_cast<int>(node);
    for (const auto& [gpu, rank] : by_node[node]) {
      group.gpus.push_back(gpu);
      group.ranks.push_back(rank);
    }
  }
  return groups;
}

/// What the search needs to know of a set of GPUs of one node.
class GpuSet {
 public:
  GpuSet(const Cluster& cluster, const std::vector<int>& gpus) : cluster_(cluster), gpus_(gpus), links_(static_cast<int>(gpus.size())) {
    count_links();
  }

  int size() const { return static_cast<int>(gpus_.size()); }
  const FreeLinks& links() const { return links_; }
  bool searchable() const { return size() <= kMostSearchedGpus && !behind_switches(); }

  /// Every pair is joined by NVLink, and not every one directly.
  bool behind_switches() const {
    bool direct = true;
    for (int a = 0; a < size(); ++a) {
      for (int b = 0; b < size(); ++b) {
        if (a == b) continue;
        if (!route(a, b).nvlink_only) return false;
        direct = direct && route(a, b).links.size() == 1;
      }
    }
    return !direct;
  }

  /// NVLinks of the GPU that has the fewest.
  int links_per_gpu() const {
    int fewest = kMostSearchedChannels;
    for (const int gpu : gpus_) {
      int count = 0;
      for (const NodeLink& link : cluster_.spec().node.links) {
        if (link.type.kind == LinkKind::nvlink && (is_gpu(link.a, gpu) || is_gpu(link.b, gpu))) count += link.count;
      }
      fewest = std::min(fewest, count);
    }
    return std::max(1, fewest);
  }

  /// From place to place, always the closest not yet taken: fewest PCIe hops, NVLink counting none; ties by index.
  Order neighbours_in_a_row(Order begun) const {
    while (static_cast<int>(begun.size()) < size()) {
      int nearest = -1;
      for (int next = 0; next < size(); ++next) {
        if (std::ranges::find(begun, next) != begun.end()) continue;
        if (nearest < 0 || route(begun.back(), next).pcie_hops < route(begun.back(), nearest).pcie_hops) nearest = next;
      }
      begun.push_back(nearest);
    }
    return begun;
  }

  /// Places by distance from a NIC; equal ones in a circle that starts at another place for each rail.
  Order by_distance_from(int nic) const {
    const int first = nic * size() / std::max(1, cluster_.spec().node.nics);
    return sorted_by_distance(nic, first);
  }

  /// As above, but equal ones follow after `place`.
  Order sorted_by_distance(int nic, int first) const {
    Order places;
    for (int i = 0; i < size(); ++i) places.push_back((first + i) % size());
    std::ranges::stable_sort(places, {}, [&](int place) { return cluster_.nic_distance(gpus_[static_cast<std::size_t>(place)], nic); });
    return places;
  }

 private:
  static bool is_gpu(const std::string& device, int index) { return device == "gpu" + std::to_string(index); }

  const Route& route(int a, int b) const {
    return cluster_.route_in_node(cluster_.gpu(0, gpus_[static_cast<std::size_t>(a)]), cluster_.gpu(0, gpus_[static_cast<std::size_t>(b)]));
  }

  void count_links() {
    for (const NodeLink& link : cluster_.spec().node.links) {
      if (link.type.kind != LinkKind::nvlink) continue;
      const auto a = std::ranges::find_if(gpus_, [&](int gpu) { return is_gpu(link.a, gpu); });
      const auto b = std::ranges::find_if(gpus_, [&](int gpu) { return is_gpu(link.b, gpu); });
      if (a == gpus_.end() || b == gpus_.end()) continue;
      const int from = static_cast<int>(a - gpus_.begin()), to = static_cast<int>(b - gpus_.begin());
      links_.at(from, to) = links_.at(to, from) = link.count;
    }
  }

  const Cluster& cluster_;
  std::vector<int> gpus_;
  FreeLinks links_;
};

std::vector<Order> rings_in_node(const GpuSet& gpus) {
  if (gpus.size() == 1) return {{0}};
  if (gpus.searchable()) {
    std::vector<Order> rings = disjoint_rings(gpus.links());
    if (!rings.empty()) return rings;
  }
  const Order forward = gpus.neighbours_in_a_row({0});
  if (gpus.behind_switches()) return std::vector<Order>(static_cast<std::size_t>(gpus.links_per_gpu()), forward);
  return {forward, Order(forward.rbegin(), forward.rend())};
}

/// The ways through a node, one per channel.
std::vector<Order> paths_through_node(const GpuSet& gpus, int nics, int channels) {
  std::vector<Order> paths;
  FreeLinks free = gpus.links();
  for (int c = 0; c < channels; ++c) {
    const int rail = c % nics;
    const int nearest = gpus.by_distance_from(rail).front();
    const Order from_nearest = gpus.sorted_by_distance(rail, nearest);
    int entry = nearest, exit = gpus.size() > 1 ? *std::ranges::find_if(from_nearest, [&](int p) { return p != nearest; }) : nearest;
    if (c / nics % 2 == 1) std::swap(entry, exit);
    Order path;
    if (gpus.searchable()) path = widest_path(free, entry, exit);
    if (path.empty() && gpus.searchable()) path = widest_path(free = gpus.links(), entry, exit);
    if (!path.empty() && gpus.searchable()) free.take_path(path);
    if (path.empty()) {
      path = gpus.neighbours_in_a_row({entry});
      std::erase(path, exit);
      path.push_back(exit);
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

/// Ways through nodes, searched once per set of GPUs.
class PathBook {
 public:
  PathBook(const Cluster& cluster, int channels) : cluster_(cluster), channels_(channels) {}
  const std::vector<Order>& paths(const std::vector<int>& gpus) {
    for (const auto& [known, paths] : book_) {
      if (known == gpus) return paths;
    }
    book_.emplace_back(gpus, paths_through_node(GpuSet(cluster_, gpus), cluster_.spec().node.nics, channels_));
    return book_.back().second;
  }

 private:
  const Cluster& cluster_;
  int channels_;
  std::vector<std::pair<std::vector<int>, std::vector<Order>>> book_;
};

void append(Order& order, const NodeGroup& group, const Order& places) {
  for (const int place : places) order.push_back(group.ranks[static_cast<std::size_t>(place)]);
}

Rings rings_in_one_node(const Cluster& cluster, const NodeGroup& group) {
  Rings rings;
  for (const Order& places : rings_in_node(GpuSet(cluster, group.gpus))) append(rings.channels.emplace_back().order, group, places);
  rings.running_channels = 2 * std::min(kMostSearchedChannels, static_cast<int>(rings.channels.size()));
  return rings;
}

Rings rings_over_nodes(const Cluster& cluster, const std::vector<NodeGroup>& groups) {
  const int nics = cluster.spec().node.nics;
  const int count = std::clamp(2 * nics, 2, kMostChannels);
  Rings rings;
  std::size_t fullest = 1;
  PathBook book(cluster, count);
  for (int c = 0; c < count; ++c) rings.channels.push_back({{}, c % nics});
  for (const NodeGroup& group : groups) {
    const std::vector<Order>& paths = book.paths(group.gpus);
    for (std::size_t c = 0; c < rings.channels.size(); ++c) append(rings.channels[c].order, group, paths[c]);
    fullest = std::max(fullest, group.gpus.size());
  }
  rings.running_channels = std::max(fullest > 1 ? 4 : 2, count);
  return rings;
}

}  // namespace

Rings find_rings(const Cluster& cluster, const Placement& placement) {
  const std::vector<NodeGroup> groups = group_by_node(cluster, placement);
  return groups.size() == 1 ? rings_in_one_node(cluster, groups.front()) : rings_over_nodes(cluster, groups);
}

}  // namespace foretrain
