// The table of algorithms. A new algorithm is a new file and a row here.
#include "sim/collective/algorithms/catalog.hpp"

#include <algorithm>
#include <array>

#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

/// Returns the order as the algorithm sees it: turned to the root if the operation has one.
std::vector<int> turned_order(CollectiveOp op, const AlgorithmRequest& request) {
  std::vector<int> order(request.order.begin(), request.order.end());
  if (has_root(op)) std::rotate(order.begin(), std::ranges::find(order, request.root), order.end());
  return order;
}

/// Replaces places by ranks in all lanes. Switches have places beyond the ranks and keep them.
void name_ranks(Lanes& lanes) {
  const auto rank_at = [&](int place) {
    return place < lanes.ranks ? lanes.order[static_cast<std::size_t>(place)] : place;
  };
  for (Lane& lane : lanes.lanes) {
    lane.from = rank_at(lane.from);
    lane.to = rank_at(lane.to);
  }
}

}  // namespace

std::span<const Algorithm> algorithms() {
  static const std::array kRows{ring_all_reduce(),
                                double_binary_tree_all_reduce(),
                                nvls_all_reduce(),
                                nvls_tree_all_reduce(),
                                hierarchical_ring_all_reduce(),
                                hierarchical_tree_all_reduce(),
                                recursive_halving_doubling_all_reduce(),
                                recursive_doubling_all_reduce(),
                                reduce_to_one_all_reduce(),
                                hierarchical_copy_all_reduce(),
                                ring_broadcast(),
                                double_binary_tree_broadcast(),
                                binomial_broadcast(),
                                binary_tree_broadcast(),
                                scatter_all_gather_broadcast(),
                                ring_reduce(),
                                double_binary_tree_reduce(),
                                binomial_reduce(),
                                reduce_scatter_gather_reduce(),
                                ring_reduce_scatter(),
                                recursive_halving_reduce_scatter(),
                                bruck_reduce_scatter(),
                                direct_reduce_scatter(),
                                nvls_reduce_scatter(),
                                ring_all_gather(),
                                recursive_doubling_all_gather(),
                                bruck_all_gather(),
                                direct_all_gather(),
                                nvls_all_gather(),
                                direct_alltoall(),
                                pairwise_alltoall(),
                                bruck_alltoall(),
                                shift_sendrecv(),
                                direct_gather(),
                                binomial_gather(),
                                direct_scatter(),
                                binomial_scatter()};
  return kRows;
}

const Algorithm* find_algorithm(CollectiveOp op, AlgorithmFamily family) {
  const auto row = std::ranges::find_if(algorithms(),
                                        [&](const Algorithm& a) { return a.op == op && a.family == family; });
  return row == algorithms().end() ? nullptr : &*row;
}

const Algorithm* find_algorithm(CollectiveOp op, std::string_view family) {
  const std::optional<AlgorithmFamily> known = find_family(family);
  return known ? find_algorithm(op, *known) : nullptr;
}

Lanes lanes_of(const Algorithm& algorithm, const AlgorithmRequest& request) {
  Lanes lanes;
  lanes.op = algorithm.op;
  lanes.ranks = request.ranks();
  lanes.root = request.root;
  lanes.order = turned_order(algorithm.op, request);
  if (lanes.ranks < 2) return lanes;
  AlgorithmRequest turned = request;
  turned.order = lanes.order;
  algorithm.fill(lanes, turned);
  name_ranks(lanes);
  return lanes;
}

LaneCosts costs_of(const Algorithm& algorithm, const AlgorithmRequest& request) {
  return request.ranks() < 2 ? LaneCosts{} : algorithm.costs(request);
}

std::string_view refuse_nothing(const AlgorithmRequest&) { return {}; }

std::string_view refuse_too_many_pairs(const AlgorithmRequest& request) {
  // Limit of ranks: 16.8 million lanes take 1 GB.
  constexpr int kMost = 4096;
  return request.ranks() > kMost ? "more than 4096 ranks have too many pairs to write out" : "";
}

std::vector<int> group_sizes(const AlgorithmRequest& request) {
  if (request.groups.empty()) return std::vector<int>(request.order.size(), 1);
  return {request.groups.begin(), request.groups.end()};
}

bool has_equal_groups(const AlgorithmRequest& request) {
  return std::ranges::all_of(request.groups, [&](int size) { return size == request.groups.front(); });
}

RingTraffic ring_traffic(CollectiveOp op, int n) {
  const bool rings = op == CollectiveOp::all_reduce || op == CollectiveOp::reduce_scatter ||
                     op == CollectiveOp::all_gather || op == CollectiveOp::broadcast ||
                     op == CollectiveOp::reduce;
  if (n <= 1 || !rings) return {};
  return {busbw_factor(op, n), op == CollectiveOp::all_reduce ? 2 * (n - 1) : n - 1};
}

}  // namespace foretrain
