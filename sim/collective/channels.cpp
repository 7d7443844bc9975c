// The search on direct NVLinks is depth-first over orders of at most kMostSearched GPUs, greedy in the number of free links.
#include "sim/collective/channels.hpp"

#include <algorithm>
#include <numeric>

namespace foretrain {

namespace {

constexpr int kMostSearched = 8;
constexpr int kMostChannels = 12;
constexpr int kMostRunning = 24;

/// Free NVLinks between the ranks of one node, by local rank.
class FreeLinks {
 public:
  FreeLinks(const Cluster& cluster, const std::vector<GpuPlace>& ranks) : size_(ranks.size()), free_(size_ * size_, 0) {
    double unit = 0;
    for (const NodeLink& link : cluster.spec().node.links) {
      if (link.type.kind == LinkKind::nvlink) unit = std::max(unit, link.type.bandwidth.per_second);
    }
    for (std::size_t a = 0; a < size_; ++a) {
      for (std::size_t b = 0; b < size_; ++b) {
        if (a == b || unit <= 0) continue;
        const Route route = cluster.route(cluster.gpu(ranks[a].node, ranks[a].gpu), cluster.gpu(ranks[b].node, ranks[b].gpu));
        if (!route.nvlink_only) continue;
        switched_ = switched_ || route.links.size() > 1;
        at(a, b) = static_cast<int>(route.bandwidth.per_second / unit + 0.5);
      }
    }
  }
  int& at(std::size_t a, std::size_t b) { return free_[a * size_ + b]; }
  int at(std::size_t a, std::size_t b) const { return free_[a * size_ + b]; }
  std::size_t size() const { return size_; }
  bool switched() const { return switched_; }
  bool any() const {
    return std::any_of(free_.begin(), free_.end(), [](int links) { return links > 0; });
  }

 private:
  std::size_t size_;
  std::vector<int> free_;
  bool switched_ = false;
};

/// How much room a way leaves: the narrowest edge first, then all edges together.
struct Room {
  int narrowest = 0, total = 0;
  auto operator<=>(const Room&) const = default;
};

/// Finds the roomiest way through all GPUs from `first` to `last`, closed to a ring when they are the same.
class WaySearch {
 public:
  WaySearch(const FreeLinks& links, std::size_t first, std::size_t last) : links_(links), first_(first), last_(last), closed_(first == last) {}

  std::vector<std::size_t> run() {
    std::vector<std::size_t> way{first_};
    std::vector<bool> used(links_.size(), false);
    used[first_] = true;
    extend(way, used, {std::numeric_limits<int>::max(), 0});
    return best_;
  }

 private:
  static Room with(Room room, int links) { return {std::min(room.narrowest, links), room.total + links}; }

  void extend(std::vector<std::size_t>& way, std::vector<bool>& used, Room room) {
    if (way.size() == links_.size()) return finish(way, room);
    for (std::size_t next = 0; next < links_.size(); ++next) {
      const bool too_early = !closed_ && next == last_ && way.size() + 1 < links_.size();
      const int free = links_.at(way.back(), next);
      if (used[next] || too_early || free < 1) continue;
      used[next] = true;
      way.push_back(next);
      extend(way, used, with(room, free));
      way.pop_back();
      used[next] = false;
    }
  }

  void finish(const std::vector<std::size_t>& way, Room room) {
    if (closed_ && way.size() > 1) room = with(room, links_.at(way.back(), first_));
    if (room.narrowest < 1 || room <= best_room_) return;
    best_room_ = room;
    best_ = way;
  }

  const FreeLinks& links_;
  std::size_t first_, last_;
  bool closed_;
  Room best_room_;
  std::vector<std::size_t> best_;
};

void take(FreeLinks& links, const std::vector<std::size_t>& way, bool closed) {
  for (std::size_t i = 0; i + 1 < way.size(); ++i) --links.at(way[i], way[i + 1]);
  if (closed && way.size() > 1) --links.at(way.back(), way.front());
}

std::vector<int> identity(std::size_t count) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// NVLinks at one GPU.
int nvlinks_of_gpu(const NodeSpec& node) {
  int count = 0;
  for (const NodeLink& link : node.links) {
    if (link.type.kind == LinkKind::nvlink && (link.a == "gpu0" || link.b == "gpu0")) count += link.count;
  }
  return count;
}

ChannelSet channels_on_one_node(const Cluster& cluster, const Placement& placement) {
  FreeLinks links(cluster, placement.ranks);
  const auto ranks = placement.ranks.size();
  ChannelSet set;
  if (links.switched() || ranks > kMostSearched) {
    set.channels = {{identity(ranks), 0}};
    set.running = std::clamp(2 * nvlinks_of_gpu(cluster.spec().node), 2, kMostRunning);
    return set;
  }
  while (set.channels.size() < kMostChannels) {
    const std::vector<std::size_t> way = WaySearch(links, 0, 0).run();
    if (way.empty()) break;
    take(links, way, true);
    set.channels.push_back({std::vector<int>(way.begin(), way.end()), 0});
  }
  set.running = std::clamp(2 * static_cast<int>(set.channels.size()), 2, kMostRunning);
  if (set.channels.empty()) set.channels = {{identity(ranks), 0}};
  return set;
}

/// The ranks of one node in the order a ring passes them, entering and leaving near the NIC.
std::vector<std::size_t> pass_through(const Cluster& cluster, const std::vector<GpuPlace>& ranks, int rail, FreeLinks& links) {
  std::vector<std::size_t> by_distance(ranks.size());
  std::iota(by_distance.begin(), by_distance.end(), std::size_t{0});
  std::stable_sort(by_distance.begin(), by_distance.end(), [&](std::size_t a, std::size_t b) { return cluster.nic_distance(ranks[a].gpu, rail) < cluster.nic_distance(ranks[b].gpu, rail); });
  if (ranks.size() == 1) return by_distance;
  const std::size_t first = by_distance[0], last = by_distance[1];
  std::vector<std::size_t> way;
  if (ranks.size() <= kMostSearched && !links.switched()) way = WaySearch(links, first, last).run();
  if (way.empty()) {
    way = {first};
    way.insert(way.end(), by_distance.begin() + 2, by_distance.end());
    way.push_back(last);
  } else {
    take(links, way, false);
  }
  return way;
}

ChannelSet channels_between_nodes(const Cluster& cluster, const Placement& placement) {
  const int rails = cluster.spec().node.nics;
  ChannelSet set{std::vector<Channel>(static_cast<std::size_t>(rails)), std::clamp(2 * rails, 2, kMostRunning)};
  for (int rail = 0; rail < rails; ++rail) set.channels[static_cast<std::size_t>(rail)].rail = rail;
  std::vector<GpuPlace> alike;                         // the last node's GPUs
  std::vector<std::vector<std::size_t>> ways;          // and their ways, per rail
  for (std::size_t begin = 0; begin < placement.ranks.size();) {
    std::vector<GpuPlace> here;
    for (std::size_t i = begin; i < placement.ranks.size() && placement.ranks[i].node == placement.ranks[begin].node; ++i) here.push_back({0, placement.ranks[i].gpu});
    if (here != alike) {
      alike = here;
      ways.clear();
      FreeLinks links(cluster, here);
      for (int rail = 0; rail < rails; ++rail) ways.push_back(pass_through(cluster, here, rail, links));
    }
    for (std::size_t rail = 0; rail < ways.size(); ++rail) {
      for (const std::size_t local : ways[rail]) set.channels[rail].order.push_back(static_cast<int>(begin + local));
    }
    begin += here.size();
  }
  return set;
}

}  // namespace

ChannelSet find_channels(const Cluster& cluster, const Placement& placement) {
  if (placement.size() == 1) return {{{{0}, 0}}, 1};
  const bool one_node = std::all_of(placement.ranks.begin(), placement.ranks.end(), [&](const GpuPlace& p) { return p.node == placement.ranks.front().node; });
  return one_node ? channels_on_one_node(cluster, placement) : channels_between_nodes(cluster, placement);
}

}  // namespace foretrain
