// An upper bound on the number of channels.
//
// A ring must enter and leave every set of GPUs; a chain must reach all GPUs from one. If that is impossible
// without some link, every channel uses that link, and there are no more channels than fit on it.
#include <algorithm>
#include <bit>
#include <limits>
#include <set>

#include "sim/collective/nccl/graph_search.hpp"

namespace foretrain::nccl {

namespace {

/// Returns whether only the head of a channel matters in the pattern.
bool is_head(Pattern pattern) { return pattern == Pattern::nvls || pattern == Pattern::collnet_direct; }

/// GPUs and the paths that a request allows between them.
class AllowedPaths {
 public:
  AllowedPaths(const NodeMap& map, const ChannelRequest& request)
      : map_(map), speed_(request.intra), limit_(request.type_intra) {
    const bool both_ways = request.pattern != Pattern::ring;
    for (int a = 0; a < map.gpus(); ++a) {
      for (int b = 0; b < map.gpus(); ++b) {
        if (a == b || !fits(map.gpu_to_gpu(a, b)) || (both_ways && map.gpu_to_gpu(b, a).type > limit_))
          continue;
        edges_.push_back({a, b, &map.gpu_to_gpu(a, b)});
        for (const PathStep& step : edges_.back().path->steps) links_.insert(step.link);
      }
    }
  }

  const std::set<int>& links() const { return links_; }

  /// Returns whether one GPU can reach all others without using a link (-1: with all links). A ring also
  /// needs the way back.
  bool joins_all(int without, bool closed) const {
    const std::uint64_t everyone =
        map_.gpus() >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << static_cast<unsigned>(map_.gpus())) - 1;
    std::vector<std::uint64_t> forward(static_cast<std::size_t>(map_.gpus())), backward = forward;
    for (const Edge& edge : edges_) {
      const bool uses =
          std::ranges::any_of(edge.path->steps, [&](const PathStep& step) { return step.link == without; });
      if (uses) continue;
      forward[static_cast<std::size_t>(edge.from)] |= std::uint64_t{1} << static_cast<unsigned>(edge.to);
      backward[static_cast<std::size_t>(edge.to)] |= std::uint64_t{1} << static_cast<unsigned>(edge.from);
    }
    if (closed) return reached(forward, 0) == everyone && reached(backward, 0) == everyone;
    for (int root = 0; root < map_.gpus(); ++root) {
      if (reached(forward, root) == everyone) return true;
    }
    return false;
  }

 private:
  struct Edge {
    int from, to;
    const NodePath* path;
  };

  /// Returns whether the path is allowed and wide enough for one channel.
  bool fits(const NodePath& path) const {
    if (!path.reachable || path.type > limit_) return false;
    return std::ranges::all_of(path.steps, [&](const PathStep& step) {
      return map_.links()[static_cast<std::size_t>(step.link)] >= speed_;
    });
  }

  /// Returns the set of GPUs that can be reached from one, as bits.
  static std::uint64_t reached(const std::vector<std::uint64_t>& edges, int root) {
    std::uint64_t seen = std::uint64_t{1} << static_cast<unsigned>(root), open = seen;
    while (open != 0) {
      const int here = std::countr_zero(open);
      open &= open - 1;
      const std::uint64_t fresh = edges[static_cast<std::size_t>(here)] & ~seen;
      seen |= fresh, open |= fresh;
    }
    return seen;
  }

  const NodeMap& map_;
  Milli speed_;
  PathClass limit_;
  std::vector<Edge> edges_;
  std::set<int> links_;
};

/// Returns how many channels fit through all NICs.
std::int64_t on_ports(const NodeMap& map, Milli speed) {
  std::int64_t channels = 0;
  for (int nic = 0; nic < map.nics(); ++nic) channels += map.nic_reach(nic) / speed;
  return channels;
}

/// Returns how many channels fit on the NVLinks of the GPUs. It applies if all paths between GPUs are NVLink.
std::int64_t on_nvlinks(const NodeMap& map, Milli speed, bool closed) {
  std::int64_t edges = 0, fewest = std::numeric_limits<std::int64_t>::max();
  for (int gpu = 0; gpu < map.gpus(); ++gpu) {
    std::int64_t out = 0;
    for (const Milli link : map.nvlinks(gpu)) out += link / speed;
    edges += out;
    fewest = std::min(fewest, out);
  }
  return closed ? fewest : edges / (map.gpus() - 1);
}

/// Returns how many channels fit on the narrowest link without which the GPUs are not joined.
std::int64_t on_needed_links(const NodeMap& map, const ChannelRequest& request, bool closed) {
  const AllowedPaths paths(map, request);
  if (!paths.joins_all(-1, closed)) return 0;
  std::int64_t most = request.max_channels;
  for (const int link : paths.links()) {
    const std::int64_t room = map.links()[static_cast<std::size_t>(link)] / request.intra;
    if (room < most && !paths.joins_all(link, closed)) most = room;
  }
  return most;
}

void shorten(int& shortest, const NodePath& path) {
  if (path.reachable && path.hops() > 0 && (shortest == 0 || path.hops() < shortest)) shortest = path.hops();
}

}  // namespace

ChannelBound::ChannelBound(const NodeMap& map) : map_(map) {
  for (int a = 0; a < map.gpus(); ++a) {
    for (int b = 0; b < map.gpus(); ++b) shorten(gpu_hops_, map.gpu_to_gpu(a, b));
    for (int nic = 0; nic < map.nics(); ++nic) {
      shorten(in_hops_, map.nic_to_gpu(nic, a));
      shorten(out_hops_, map.gpu_to_nic(a, nic));
    }
  }
}

/// Returns the fewest hops of a channel. For heads it returns a large number, because their hops do not
/// matter.
int ChannelBound::fewest_hops(Pattern pattern) const {
  if (is_head(pattern)) return std::numeric_limits<int>::max() / 64;
  const bool several = map_.gpus() > 1;
  const int inside = (map_.gpus() - 1) * gpu_hops_;
  if (map_.nics() == 0) return inside + (pattern == Pattern::ring && several ? gpu_hops_ : 0);
  return inside + in_hops_ + (pattern == Pattern::balanced_tree && several ? 2 : 1) * out_hops_;
}

Ceiling ChannelBound::of(const ChannelRequest& request) const {
  std::int64_t most = request.max_channels;
  if (!is_head(request.pattern)) {
    const bool closed = request.pattern == Pattern::ring && map_.nics() == 0;
    if (map_.nics() > 0) most = std::min(most, on_ports(map_, request.inter));
    if (map_.gpus() > 1 && request.type_intra <= PathClass::nvb)
      most = std::min(most, on_nvlinks(map_, request.intra, closed));
    if (map_.gpus() > 1 && !map_.has_switch()) most = std::min(most, on_needed_links(map_, request, closed));
  }
  return {static_cast<int>(most), fewest_hops(request.pattern)};
}

}  // namespace foretrain::nccl
