// The search in two passes (src/graph/search.cc; docs/sources/nccl_tuning.md 4.1). The first pass tries one
// speed after the other. At each speed it tries the same order in every channel, different orders, a plain
// tree, farther GPUs, farther NICs, and other rails. The second pass starts from what was found and tries to
// make its channels faster.
//
// NCCL searches channels before any message is sent, and their number and speed decide most of its
// performance. This search visits candidates in NCCL's own order and stops at NCCL's own budgets. On large
// nodes the budget ends the search, and then the order decides the result. Bandwidths are integers in
// thousandths of a GB/s, so that taking and giving back a channel is exact.
//
// Only shortcuts that cannot change the result are taken. A search is skipped when an upper bound on its
// channels (channel_bound.cpp) is not above the best found. Classes of path that the node does not have are
// not tried.
#include "sim/collective/nccl/graph_search.hpp"

#include <algorithm>
#include <numeric>

namespace foretrain::nccl {

namespace {

/// Limits of visited places in NCCL 2.14 and later. Earlier versions searched up to 16 times longer, with the
/// same results where these are known.
constexpr int kSameOrderBudget = 1 << 8, kAnyOrderBudget = 1 << 14;
constexpr std::int64_t kWholeBudget = std::int64_t{1} << 19;
/// Speeds from which channels are doubled, in thousandths of a GB/s.
constexpr Milli kWideEnoughToDouble = 25'000, kWideOnHopper = 50'000;
constexpr int kMostHeads = 32, kUsualGpus = 16;  ///< a visited place costs more on larger nodes
/// Speed of the fallback, in thousandths of a GB/s.
constexpr Milli kFallback = 100;

PathClass next_class(PathClass path) { return static_cast<PathClass>(static_cast<int>(path) + 1); }

/// The classes of path that occur in the node.
class PathClasses {
 public:
  void add_gpus(PathClass path) { gpus_ |= bit(path); }
  void add_nics(PathClass path) { nics_ |= bit(path); }
  /// Returns the farthest class that occurs within a limit.
  PathClass reached_by_gpus(PathClass limit) const { return reached(gpus_, limit); }
  PathClass reached_by_nics(PathClass limit) const { return reached(nics_, limit); }

 private:
  static unsigned bit(PathClass path) { return 1U << static_cast<unsigned>(path); }
  static PathClass reached(unsigned classes, PathClass limit) {
    while (limit > PathClass::loc && (classes & bit(limit)) == 0)
      limit = static_cast<PathClass>(static_cast<int>(limit) - 1);
    return limit;
  }
  unsigned gpus_ = 0, nics_ = 0;
};

/// The search of one pattern on one node. `trial_` is the present attempt, `best_` the best set so far.
class GraphSearch {
 public:
  GraphSearch(const NodeMap& map, const GraphRequest& request) : map_(map), bound_(map), wanted_(request) {
    speeds_ = search_speeds(request.version, map.compute_capability(), map.nics() > 0);
    if (map.gpus() == 1 && wanted_.pattern != Pattern::ring) wanted_.pattern = Pattern::tree;
    if (wanted_.pattern == Pattern::nvls) prepare_nvls();
    if (wanted_.pattern == Pattern::collnet_direct)
      wanted_.max_channels = std::min(wanted_.max_channels, map.gpus());
    if (wanted_.pattern == Pattern::ring && slow_between_nvlink_islands() && wanted_.max_channels >= 2) {
      wanted_.min_channels = std::max(2, wanted_.min_channels);
    }
    find_limits();
  }

  /// Returns the best set of channels, which may be empty.
  ChannelSet run() {
    if (wanted_.max_channels < 1 || wanted_.max_channels < wanted_.min_channels) return {};
    begin();
    find_any();
    double_up();
    speed_up();
    return std::move(best_);
  }

 private:
  bool since(int minor) const { return wanted_.version >= Version{2, minor, 0}; }
  bool over_network() const { return map_.nics() > 0; }
  bool is_ring() const { return wanted_.pattern == Pattern::ring; }

  void prepare_nvls() {
    wanted_.max_channels = std::min({wanted_.max_channels, map_.gpus(), kMostHeads});
    if (!over_network()) wanted_.min_channels = wanted_.max_channels;
  }

  /// Returns whether the GPUs form two groups with NVLink inside and something slower between them.
  bool slow_between_nvlink_islands() const {
    std::vector<int> first(static_cast<std::size_t>(map_.gpus()), -1), size(first.size(), 0);
    for (int gpu = 0; gpu < map_.gpus(); ++gpu) {
      int& own = first[static_cast<std::size_t>(gpu)];
      if (own < 0) own = gpu;
      for (int other = gpu + 1; other < map_.gpus(); ++other) {
        if (map_.gpu_to_gpu(gpu, other).type == PathClass::nvl) first[static_cast<std::size_t>(other)] = own;
      }
      ++size[static_cast<std::size_t>(own)];
    }
    return std::ranges::count_if(size, [](int gpus) { return gpus > 1; }) == 2;
  }

  /// Finds the nearest and farthest classes of path between GPUs, and between GPUs and NICs.
  void find_limits() {
    nearest_gpu_ = map_.gpus() > 1 ? PathClass::net : PathClass::loc;
    farthest_gpu_ = PathClass::loc;
    for (int a = 0; a < map_.gpus(); ++a) {
      for (int b = 0; b < map_.gpus(); ++b) {
        if (a == b) continue;
        widen(map_.gpu_to_gpu(a, b), nearest_gpu_, farthest_gpu_);
        classes_.add_gpus(map_.gpu_to_gpu(a, b).type);
      }
    }
    nearest_nic_ = over_network() ? PathClass::net : PathClass::pix;
    for (int gpu = 0; gpu < map_.gpus(); ++gpu) {
      for (int nic = 0; nic < map_.nics(); ++nic) {
        widen(map_.gpu_to_nic(gpu, nic), nearest_nic_, farthest_nic_);
        classes_.add_nics(map_.gpu_to_nic(gpu, nic).type), classes_.add_nics(map_.nic_to_gpu(nic, gpu).type);
      }
    }
  }

  static void widen(const NodePath& path, PathClass& nearest, PathClass& farthest) {
    if (!path.reachable) return;
    nearest = std::min(nearest, path.type);
    farthest = std::max(farthest, path.type);
  }

  /// Sets the first attempt: nearest classes, and the highest speed that the paths allow.
  void begin() {
    const bool may_cross =
        map_.nics() > 1 && wanted_.pattern != Pattern::tree && wanted_.pattern != Pattern::nvls;
    cross_nic_ = may_cross ? wanted_.cross_nic : CrossNic::never;
    trial_.pattern = wanted_.pattern;
    trial_.min_channels = wanted_.min_channels, trial_.max_channels = wanted_.max_channels;
    trial_.type_intra = nearest_gpu_, trial_.type_inter = nearest_nic_;
    trial_.same_channels = wanted_.pattern != Pattern::nvls;
    trial_.cross_nic = plain_cross();
    best_.request = trial_;
    double total = map_.best_gpu();
    if (map_.gpus() > 1 && !is_ring()) total *= map_.gpus() * 1.0 / (map_.gpus() - 1);
    while (speed_ + 1 < speeds_.size() &&
           (speeds_[speed_] > map_.best_path() ||
            static_cast<double>(speeds_[speed_]) * wanted_.min_channels > total)) {
      ++speed_;
    }
    set_speed();
  }

  CrossNic plain_cross() const { return cross_nic_ == CrossNic::always ? CrossNic::always : CrossNic::never; }
  void set_speed() { trial_.intra = trial_.inter = speeds_[speed_]; }

  /// Returns whether no set within the bounds can be better than the best one.
  bool cannot_be_better(const Ceiling& ceiling) const {
    const int most = ceiling.channels;
    if (most < trial_.min_channels || most == 0) return true;
    if (best_.channels == 0 || wanted_.pattern == Pattern::nvls) return false;
    const std::int64_t total = std::int64_t{most} * trial_.intra;
    const bool as_short = best_.hops <= best_.channels * ceiling.hops_per_channel;
    return total < best_.total() ||
           (total == best_.total() && (as_short || trial_.intra < best_.request.intra));
  }

  /// Returns whether the attempt is equal to an earlier one. Classes farther than any path of the node make
  /// no new attempt.
  bool was_tried() {
    ChannelRequest effective = trial_;
    effective.type_intra = classes_.reached_by_gpus(trial_.type_intra),
    effective.type_inter = classes_.reached_by_nics(trial_.type_inter);
    if (std::ranges::find(tried_, effective) != tried_.end()) return true;
    tried_.push_back(effective);
    return false;
  }

  void skip() { end_ = {false, 1}; }

  /// Runs one attempt and charges its visited places to the whole budget.
  void search() {
    if (was_tried()) return skip();
    const Ceiling ceiling = bound_.of(trial_);
    if (cannot_be_better(ceiling)) return skip();
    const int budget = trial_.same_channels ? kSameOrderBudget : kAnyOrderBudget;
    end_ = search_channels(map_, trial_, ceiling, budget, best_);
    budget_ -= std::int64_t{budget - end_.budget_left} * std::max(1, map_.gpus() / kUsualGpus);
  }

  /// Returns whether nothing can be faster.
  bool is_optimal() const {
    return end_.complete || std::int64_t{best_.channels} * best_.request.inter >= map_.best_gpu();
  }

  /// First pass: attempts with ever weaker demands, until a set is optimal or nothing is left to relax.
  void find_any() {
    for (search(); !is_optimal(); search()) {
      if (relax_order()) continue;
      trial_.same_channels = wanted_.pattern != Pattern::nvls;
      if (budget_ < 0 && (best_.channels > 0 || budget_ < -kWholeBudget)) return;
      if (!relax_demands()) return;
    }
  }

  bool relax_order() {
    // NCCL 2.16.5 printed different orders between AMD sockets, judged by its bandwidths. The exception came
    // with their figure in 2.19.
    const bool amd_between_sockets = since(19) && map_.amd_cpu() && trial_.type_intra == PathClass::sys;
    if (!trial_.same_channels || amd_between_sockets) return false;
    trial_.same_channels = false;
    return true;
  }

  /// Relaxes the next demand, and resets those that were relaxed before it. Returns false if none is left.
  bool relax_demands() {
    if (map_.compute_capability() >= 90 && since(16) && trial_.pattern == Pattern::balanced_tree) {
      trial_.pattern = Pattern::tree;
      return true;
    }
    trial_.pattern = wanted_.pattern;
    if (relax_gpu_class()) return true;
    trial_.type_intra = nearest_gpu_;
    if (relax_nic_class()) return true;
    trial_.type_inter = nearest_nic_;
    if (relax_rail()) return true;
    trial_.cross_nic = plain_cross();
    return relax_speed();
  }

  /// Allows the next farther class between GPUs.
  bool relax_gpu_class() {
    const PathClass farthest = over_network() && since(12) ? trial_.type_inter : farthest_gpu_;
    if (trial_.type_intra >= farthest) return false;
    if (best_.channels > 0 && trial_.type_intra >= best_.request.type_intra) return false;
    trial_.type_intra = next_class(trial_.type_intra);
    return true;
  }

  /// Allows the next farther class between GPUs and NICs.
  bool relax_nic_class() {
    if (!over_network() || trial_.type_inter >= farthest_nic_) return false;
    const bool allowed = best_.channels == 0 || trial_.type_inter < best_.request.type_inter ||
                         trial_.type_inter < PathClass::pxn;
    if (allowed) trial_.type_inter = next_class(trial_.type_inter);
    return allowed;
  }

  /// Allows channels that leave by another rail.
  bool relax_rail() {
    const bool may =
        is_ring() || wanted_.pattern == Pattern::balanced_tree || wanted_.pattern == Pattern::split_tree;
    if (!may || cross_nic_ != CrossNic::automatic || trial_.cross_nic != CrossNic::never) return false;
    trial_.cross_nic = CrossNic::automatic;
    return true;
  }

  /// Lowers the speed, but not below about half of the best one.
  bool relax_speed() {
    if (speed_ + 1 >= speeds_.size()) return false;
    const double next = speeds_[speed_ + 1];
    if (best_.channels > 0 && next / best_.request.inter <= .49) return false;
    ++speed_;
    set_speed();
    return true;
  }

  /// Runs wide channels twice at half the speed.
  void double_up() {
    if (best_.channels == 0 || wanted_.pattern == Pattern::nvls) return;
    const Milli intra = best_.request.intra;
    if (intra < kWideEnoughToDouble) return;
    if (map_.compute_capability() > 80 && since(16) && intra < kWideOnHopper && best_.channels > 4) return;
    const int doubled = std::min(2 * best_.channels, wanted_.max_channels), once = best_.channels;
    for (int c = once; c < doubled; ++c)
      best_.paths.push_back(best_.paths[static_cast<std::size_t>(c - once)]);
    const auto shared = [&](Milli rate) { return static_cast<Milli>(std::int64_t{rate} * once / doubled); };
    best_.request.intra = shared(best_.request.intra), best_.request.inter = shared(best_.request.inter);
    best_.channels = doubled;
    best_.hops = best_.hops * doubled / once;
  }

  /// Second pass: raises the speed while a search succeeds. For rings both speeds rise together. For trees
  /// the speed inside the node rises up to twice the speed between nodes. For NVLS the speed between nodes
  /// rises.
  void speed_up() {
    if (best_.channels == 0) return;
    trial_ = best_.request;
    trial_.min_channels = best_.channels;
    trial_.max_channels = wanted_.max_channels;
    speed_ = 0;
    while (speed_ + 1 < speeds_.size() && speeds_[speed_] > best_.request.inter) ++speed_;
    trial_.intra = trial_.inter = speeds_[speed_];
    end_ = {false, 1};
    while ((end_.budget_left > 0 || end_.complete) && speed_ > 0 && raise()) search();
  }

  /// Sets the next higher speed. Returns false if the pattern allows no more.
  bool raise() {
    if (is_ring()) {
      trial_.intra = trial_.inter = speeds_[--speed_];
      return true;
    }
    if (wanted_.pattern == Pattern::nvls) {
      if (trial_.inter != best_.request.inter || trial_.inter >= 2 * trial_.intra) return false;
      trial_.min_channels = trial_.max_channels = best_.channels;
      trial_.inter = speeds_[--speed_];
      return true;
    }
    if (trial_.intra != best_.request.intra || trial_.intra >= 2 * trial_.inter) return false;
    trial_.intra = speeds_[--speed_];
    return true;
  }

  const NodeMap& map_;
  ChannelBound bound_;
  PathClasses classes_;
  std::vector<ChannelRequest> tried_;
  GraphRequest wanted_;
  std::span<const Milli> speeds_;
  std::size_t speed_ = 0;
  PathClass nearest_gpu_ = PathClass::loc, farthest_gpu_ = PathClass::loc;
  PathClass nearest_nic_ = PathClass::pix, farthest_nic_ = PathClass::pix;
  CrossNic cross_nic_ = CrossNic::never;
  ChannelRequest trial_;
  ChannelSet best_;
  SearchEnd end_;
  std::int64_t budget_ = kWholeBudget;
};

/// Returns the fallback: one slow channel with the GPUs in order.
GraphResult in_order(const NodeMap& map) {
  GraphResult result;
  result.channels = 1;
  result.bw_intra = result.bw_inter = to_gbps(kFallback);
  result.type_intra = result.type_inter = PathClass::sys;
  ChannelPath& path = result.paths.emplace_back();
  path.gpus.resize(static_cast<std::size_t>(map.gpus()));
  std::iota(path.gpus.begin(), path.gpus.end(), 0);
  if (map.nics() > 0) path.nic_in = path.nic_out = 0;
  return result;
}

/// Converts a set of channels to the figures that NCCL prints.
GraphResult result_of(const ChannelSet& set) {
  GraphResult result;
  result.pattern = set.request.pattern;
  result.channels = set.channels;
  result.bw_intra = to_gbps(set.request.intra), result.bw_inter = to_gbps(set.request.inter);
  result.type_intra = set.request.type_intra, result.type_inter = set.request.type_inter;
  result.same_channels = set.request.same_channels;
  result.cross_nic = set.request.cross_nic != CrossNic::never;
  result.paths = set.paths;
  return result;
}

bool needs_switch(Pattern pattern) { return pattern == Pattern::nvls; }

}  // namespace

GraphResult search_graph(const NodeMap& map, const GraphRequest& request) {
  GraphResult none;
  none.pattern = request.pattern;
  if (needs_switch(request.pattern) && (!map.has_switch() || map.compute_capability() < 90)) return none;
  const ChannelSet set = GraphSearch(map, request).run();
  GraphResult result = result_of(set);
  if (set.channels == 0) {
    if (request.pattern == Pattern::nvls || request.pattern == Pattern::collnet_direct) return none;
    result = in_order(map);
    result.pattern = request.pattern;
  }
  for (ChannelPath& path : result.paths) {
    for (int& gpu : path.gpus) gpu = map.gpu_number(gpu);
  }
  return result;
}

}  // namespace foretrain::nccl
