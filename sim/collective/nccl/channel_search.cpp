// Depth-first search. A channel goes from a NIC (or any GPU of a single node) through all GPUs and back to
// the NIC or to the first GPU. The next channel follows with what the links have left. The order of attempts
// is NCCL's, because NCCL's budget ends most searches before all are tried (src/graph/search.cc;
// docs/sources/nccl_tuning.md 4.1).
//
// The search is exponential in principle: it tries orders of GPUs. It stays small because each channel passes
// every GPU exactly once, links are used up quickly, and NCCL stops after a fixed number of visited places.
// On a tie the earlier find is kept, so the order of visits is part of the result.
#include "sim/collective/nccl/channel_search.hpp"

#include <algorithm>
#include <array>

namespace foretrain::nccl {

namespace {

/// Places that the trial in PCIe order may visit.
constexpr int kPcieOrderBudget = 1 << 10;
constexpr int kLastBudget = 1 << 10;  ///< once no more channels can fit, to find shorter ones
constexpr int kNever = -1;

/// The rule that picks the next GPU.
enum class Order : std::uint8_t { best_first, by_place, as_last_channel };

bool is_tree(Pattern pattern) {
  return pattern == Pattern::tree || pattern == Pattern::split_tree || pattern == Pattern::balanced_tree;
}

/// The state of one search. Every function that changes it undoes its change before it returns.
class Search {
 public:
  Search(const NodeMap& map, const ChannelRequest& request, const Ceiling& ceiling, int budget,
         ChannelSet& best)
      : map_(map),
        request_(request),
        ceiling_(ceiling),
        best_(best),
        links_(map.links()),
        budget_(budget),
        gpus_(map.gpus()) {
    for (int nic = 0; nic < map.nics(); ++nic) nic_free_.push_back(map.nic_rate(nic));
    gpus_of_.resize(static_cast<std::size_t>(request.max_channels) * static_cast<std::size_t>(gpus_));
    nics_of_.resize(static_cast<std::size_t>(request.max_channels));
    used_.resize(static_cast<std::size_t>(gpus_));
  }

  SearchEnd run() {
    if (map_.nics() > 0) list_nics();
    next_channel();
    return {complete_, std::max(0, budget_)};
  }

 private:
  void list_nics() {
    start_nics_ = map_.nics_for(-1, request_.type_inter);
    for (int gpu = 0; gpu < gpus_; ++gpu) nics_of_gpu_.push_back(map_.nics_for(gpu, request_.type_inter));
  }

  /// The steps at which a channel returns to its NIC and to its first GPU.
  struct Goal {
    int nic_step, first_gpu_step;
  };
  struct Nics {
    int in = -1, out = -1;
  };

  int& gpu_at(int channel, int step) { return gpus_of_[static_cast<std::size_t>(channel * gpus_ + step)]; }
  Nics& nics() { return nics_of_[static_cast<std::size_t>(channel_)]; }
  bool exhausted() const { return complete_ || at_ceiling_ || budget_ <= 0; }

  /// Returns where a channel of the pattern returns to its NIC or its first GPU.
  Goal goal() const {
    if (map_.nics() == 0) return {kNever, request_.pattern == Pattern::ring ? gpus_ - 1 : kNever};
    if (request_.pattern == Pattern::ring) return {gpus_ - 1, kNever};
    return {request_.pattern == Pattern::split_tree ? std::min(1, gpus_ - 1) : 0, kNever};
  }

  /// Starts the next channel at every NIC, or on a single node at every GPU.
  void next_channel() {
    if (map_.nics() > 0) return from_nics();
    if (request_.pattern == Pattern::nvls) return begin_at(channel_, Order::best_first);
    if (channel_ == 0) {
      begin_at(0, Order::by_place);
    } else {
      begin_at(gpu_at(channel_ - 1, 0), Order::as_last_channel);
    }
    if (request_.same_channels && channel_ > 0) return;
    for (int gpu = 0; gpu < gpus_; ++gpu) begin_at(gpu, Order::best_first);
  }

  /// Starts a channel of a single node, which takes no bandwidth to enter its first GPU.
  void begin_at(int gpu, Order order) {
    if (gpu < gpus_) enter(gpu, 0, goal(), order);
  }

  /// Starts a channel at each NIC with enough rate, beginning with a different NIC for each channel.
  void from_nics() {
    const int count = static_cast<int>(start_nics_.size());
    for (int i = 0; i < count && !exhausted(); ++i) {
      const int nic = start_nics_[static_cast<std::size_t>((channel_ + i) % count)];
      if (request_.pattern == Pattern::nvls && i > 0) break;
      Milli& left = nic_free_[static_cast<std::size_t>(nic)];
      if (left < request_.inter) continue;
      nics() = {nic, -1};
      left -= request_.inter;
      from_nic(nic);
      left += request_.inter;
    }
  }

  void from_nic(int nic) {
    if (request_.pattern == Pattern::nvls || request_.pattern == Pattern::collnet_direct) return head_at(nic);
    if (channel_ > 0 && request_.same_channels)
      return enter_from_nic(nic, gpu_at(channel_ - 1, 0), Order::as_last_channel);
    if (channel_ == 0 && !map_.has_switch()) try_pcie_order(nic);
    const std::vector<int>& local = map_.local_gpus(nic);
    for (std::size_t i = 0; i < local.size(); ++i) {
      enter_from_nic(nic, local[(static_cast<std::size_t>(channel_) + i) % local.size()], Order::best_first);
    }
  }

  /// Tries the GPUs in PCIe order, as a reference that does not count against the budget.
  void try_pcie_order(int nic) {
    const int own = budget_;
    budget_ = kPcieOrderBudget;
    enter_from_nic(nic, 0, Order::by_place);
    budget_ = own;
  }

  /// Starts a channel at the GPU nearest to the NIC, unless another channel has that head.
  void head_at(int nic) {
    if (channel_ >= map_.nics()) return;
    const int gpu = map_.relay_to(nic);
    if (gpu < 0) return;
    for (int c = 0; c < channel_; ++c) {
      if (gpu_at(c, 0) == gpu) return;
    }
    enter_from_nic(nic, gpu, Order::best_first);
  }

  void enter_from_nic(int nic, int gpu, Order order) {
    const NodePath& path = map_.nic_to_gpu(nic, gpu);
    if (!allowed(path, map_.gpu_to_nic(gpu, nic), request_.type_inter) || !links_.take(path, request_.inter))
      return;
    enter(gpu, 0, goal(), order);
    links_.give_back(path, request_.inter);
  }

  /// Marks the GPU as used by this channel while it is visited.
  void enter(int gpu, int step, Goal goal, Order order) {
    const std::uint64_t flag = std::uint64_t{1} << static_cast<unsigned>(channel_);
    used_[static_cast<std::size_t>(gpu)] ^= flag;
    visit(gpu, step, goal, order);
    used_[static_cast<std::size_t>(gpu)] ^= flag;
  }

  /// The step of the search: the GPU is on the channel; continue to the NIC, the switch, the next GPU or the
  /// end.
  void visit(int gpu, int step, Goal goal, Order order) {
    if (exhausted()) return;
    --budget_;
    gpu_at(channel_, step) = gpu;
    if (step == goal.nic_step) return back_to_nic(gpu, step, goal, order);
    if (request_.pattern == Pattern::nvls) return through_switch(gpu);
    if (request_.pattern == Pattern::collnet_direct) return to_all_peers(gpu);
    if (step < gpus_ - 1) return to_next_gpu(gpu, step, goal, order);
    if (step == goal.first_gpu_step) return back_to_first_gpu(gpu);
    finish();
  }

  /// Leaves by each allowed NIC and continues. A balanced tree does it twice, at its first two GPUs, with
  /// half the speed.
  void back_to_nic(int gpu, int step, Goal goal, Order order) {
    const bool balanced = request_.pattern == Pattern::balanced_tree;
    const Milli rate = balanced ? request_.inter / 2 : request_.inter;
    goal.nic_step = balanced && step == 0 && gpus_ > 1 ? 1 : kNever;
    for (const int nic : nics_of_gpu_[static_cast<std::size_t>(gpu)]) {
      if (!may_leave_by(nic, step)) continue;
      const NodePath& path = map_.gpu_to_nic(gpu, nic);
      if (!allowed(path, map_.nic_to_gpu(nic, gpu), request_.type_inter) || !links_.take(path, rate))
        continue;
      const int before = nics().out;
      nics().out = nic;
      visit(gpu, step, goal, order);
      nics().out = before;
      links_.give_back(path, rate);
    }
  }

  /// Returns whether the channel may leave by this NIC, by the rules for rails.
  bool may_leave_by(int nic, int step) {
    if (request_.pattern == Pattern::tree && nic != nics().in) return false;
    if (request_.pattern == Pattern::balanced_tree && step > 0 && nic != nics().out) return false;
    if (request_.pattern == Pattern::ring && request_.cross_nic == CrossNic::automatic) {
      return channel_ % 2 == 0 || nic == nics_of_[static_cast<std::size_t>(channel_ - 1)].in;
    }
    return request_.cross_nic != CrossNic::never || nic == nics().in;
  }

  /// Continues to each candidate in order.
  void to_next_gpu(int gpu, int step, Goal goal, Order order) {
    const std::size_t first = candidates_.size();
    if (order == Order::by_place) {
      candidates_.push_back(step + 1);
    } else if (order == Order::as_last_channel) {
      candidates_.push_back(gpu_at(channel_ - 1, step + 1));
    } else {
      add_candidates(gpu, goal.nic_step == kNever     ? NicSort::none
                          : goal.nic_step == step + 1 ? NicSort::near_first
                                                      : NicSort::far_first);
    }
    const std::size_t last = candidates_.size();
    for (std::size_t i = first; i < last; ++i) {
      const int next = candidates_[i];
      const NodePath& path = map_.gpu_to_gpu(gpu, next);
      if (!allowed(path, map_.gpu_to_gpu(next, gpu), request_.type_intra) ||
          !links_.take(path, request_.intra))
        continue;
      enter(next, step + 1, goal, order);
      links_.give_back(path, request_.intra);
    }
    candidates_.resize(first);
  }

  enum class NicSort : std::uint8_t { none, near_first, far_first };

  bool is_used(int gpu) const {
    return (used_[static_cast<std::size_t>(gpu)] >> static_cast<unsigned>(channel_) & 1U) != 0;
  }

  /// Adds the GPUs that are not yet on the channel. With `sort` they are ordered by their path to the NIC
  /// (widest, then shortest), then by the path from `gpu`, then in a circle.
  void add_candidates(int gpu, NicSort sort) {
    if (map_.has_switch()) return add_neighbours(gpu);
    const std::size_t first = candidates_.size();
    for (int i = 1; i < gpus_; ++i) {
      const int other = (gpu + i) % gpus_;
      if (!is_used(other) && map_.gpu_to_gpu(gpu, other).hops() > 0) candidates_.push_back(other);
    }
    const auto begin = candidates_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto intra = [&](int g) {
      const NodePath& path = map_.gpu_to_gpu(gpu, g);
      return std::array<Milli, 2>{-path.bandwidth, path.hops()};
    };
    const bool alike =
        std::all_of(begin, candidates_.end(), [&](int g) { return intra(g) == intra(*begin); });
    std::stable_sort(begin, candidates_.end(), [&](int a, int b) {
      if (sort != NicSort::none && nic_merit(a) != nic_merit(b)) return nic_merit(a) < nic_merit(b);
      return intra(a) < intra(b);
    });
    if (sort == NicSort::far_first && alike) std::reverse(begin, candidates_.end());
  }

  std::array<Milli, 3> nic_merit(int gpu) {
    const NodePath& path = map_.nic_to_gpu(nics().in, gpu);
    return {-path.bandwidth, -map_.pcie_rate(gpu), path.hops()};
  }

  /// Adds the neighbours only: behind NVSwitches all GPUs are alike, and few distinct pairs are best.
  void add_neighbours(int gpu) {
    const int next = (gpu + 1) % gpus_, previous = (gpu + gpus_ - 1) % gpus_;
    const bool ring = request_.pattern == Pattern::ring;
    const auto add = [&](int other) {
      if (!is_used(other)) candidates_.push_back(other);
    };
    if (request_.pattern == Pattern::tree || next == previous) return add(next);
    add(ring ? previous : next);
    add(ring ? next : previous);
  }

  void back_to_first_gpu(int gpu) {
    const int first = gpu_at(channel_, 0);
    const NodePath& path = map_.gpu_to_gpu(gpu, first);
    if (path.hops() == 0) return finish();
    if (!allowed(path, map_.gpu_to_gpu(first, gpu), request_.type_intra) ||
        !links_.take(path, request_.intra))
      return;
    --budget_;
    finish();
    links_.give_back(path, request_.intra);
  }

  /// Takes links to and from the switch. The head's link carries its own share in addition to that of all
  /// GPUs.
  void through_switch(int head) {
    const auto share = [&](int gpu) { return gpu == head ? 2 * request_.intra : request_.intra; };
    int down = 0, up = 0;
    while (down < gpus_ && links_.take(map_.switch_to_gpu(down), share(down))) ++down;
    while (down == gpus_ && up < gpus_ && links_.take(map_.gpu_to_switch(up), share(up))) ++up;
    if (up == gpus_) finish();
    while (up-- > 0) links_.give_back(map_.gpu_to_switch(up), share(up));
    while (down-- > 0) links_.give_back(map_.switch_to_gpu(down), share(down));
  }

  /// Takes links from the head to every peer and back, with an equal part for each.
  void to_all_peers(int head) {
    const Milli share = gpus_ > 1 ? (request_.intra + (gpus_ - 1) / 2) / (gpus_ - 1) : 0;
    const auto out = [&](int gpu) -> const NodePath& { return map_.gpu_to_gpu(head, gpu); };
    const auto in = [&](int gpu) -> const NodePath& { return map_.gpu_to_gpu(gpu, head); };
    int sent = 0, received = 0;
    while (sent < gpus_ && allowed(out(sent), in(sent), request_.type_intra) && links_.take(out(sent), share))
      ++sent;
    while (sent == gpus_ && received < gpus_ && links_.take(in(received), share)) ++received;
    if (received == gpus_) {
      for (int step = 1, gpu = 0; gpu < gpus_; ++gpu) {
        if (gpu != head) gpu_at(channel_, step++) = gpu;
      }
      finish();
    }
    while (received-- > 0) links_.give_back(in(received), share);
    while (sent-- > 0) links_.give_back(out(sent), share);
  }

  /// A channel is complete: keep the set if it is better, then try one more.
  void finish() {
    if (exhausted()) return;
    --budget_;
    ++channel_;
    if (is_better()) {
      keep();
      complete_ = channel_ == request_.max_channels;
      if (channel_ >= ceiling_.channels) {
        at_ceiling_ = links_.hops() <= channel_ * ceiling_.hops_per_channel;
        budget_ = std::min(budget_, kLastBudget);
      }
    }
    if (channel_ < request_.max_channels) next_channel();
    --channel_;
  }

  /// Returns whether the present set is better than the best one.
  bool is_better() const {
    if (channel_ < request_.min_channels) return false;
    const std::int64_t total = std::int64_t{channel_} * request_.intra;
    if (request_.pattern == Pattern::nvls) {
      const bool wider =
          std::int64_t{channel_} * request_.inter > std::int64_t{best_.channels} * best_.request.inter;
      return wider || (channel_ > best_.channels && channel_ <= gpus_);
    }
    if (total != best_.total()) return total > best_.total();
    return request_.pattern == best_.request.pattern && request_.cross_nic == best_.request.cross_nic &&
           links_.hops() < best_.hops;
  }

  void keep() {
    best_.request = request_;
    best_.channels = channel_;
    best_.hops = links_.hops();
    best_.paths.assign(static_cast<std::size_t>(channel_), {});
    for (int c = 0; c < channel_; ++c) {
      ChannelPath& path = best_.paths[static_cast<std::size_t>(c)];
      for (int step = 0; step < gpus_; ++step) path.gpus.push_back(gpu_at(c, step));
      path.nic_in = nics_of_[static_cast<std::size_t>(c)].in,
      path.nic_out = nics_of_[static_cast<std::size_t>(c)].out;
    }
  }

  bool allowed(const NodePath& path, const NodePath& back, PathClass limit) const {
    if (!path.reachable || path.type > limit) return false;
    return !is_tree(request_.pattern) || back.type <= limit;
  }

  const NodeMap& map_;
  ChannelRequest request_;
  Ceiling ceiling_;
  ChannelSet& best_;
  LinkBudget links_;
  std::vector<Milli> nic_free_;
  std::vector<int> gpus_of_, start_nics_, candidates_;
  std::vector<std::vector<int>> nics_of_gpu_;
  std::vector<Nics> nics_of_;
  std::vector<std::uint64_t> used_;
  int budget_, gpus_, channel_ = 0;
  bool complete_ = false, at_ceiling_ = false;
};

}  // namespace

SearchEnd search_channels(const NodeMap& map, const ChannelRequest& request, const Ceiling& ceiling,
                          int budget, ChannelSet& best) {
  return Search(map, request, ceiling, budget, best).run();
}

}  // namespace foretrain::nccl
