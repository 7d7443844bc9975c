// Laws of collective algorithms, over every row of the catalog, 1 to 16 ranks and many groupings.
#include <algorithm>
#include <bit>
#include <optional>
#include <ostream>
#include <string>

#include "sim/collective/algorithms/catalog.hpp"
#include "tests/support/catch.hpp"

namespace collective_laws {

using namespace foretrain;

namespace {

constexpr int kMostRanks = 16;

/// 0, 3, 6, … : a ring that is not in index order (n not a multiple of 3), else the reverse.
std::vector<int> some_order(int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = n % 3 == 0 ? n - 1 - i : 3 * i % n;
  return order;
}

/// What the ranks must send together at least, per byte of size: every contribution must leave its rank,
/// every result arrive.
double least_total_bytes(CollectiveOp op, int n) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return 2.0 * (n - 1);
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
      return (n - 1.0) / n;
    case CollectiveOp::sendrecv:
      return n;
    default:
      return n - 1.0;
  }
}

/// One thing asked of an algorithm.
struct Asked {
  std::vector<int> order;
  std::vector<int> groups;
  int root = 0;
  int pieces = 1;
  AlgorithmRequest request() const { return {order, root, pieces, groups}; }
};

std::ostream& operator<<(std::ostream& out, const Asked& asked) {
  out << asked.order.size() << " ranks, root " << asked.root << ", " << asked.pieces << " pieces, groups";
  for (const int size : asked.groups) out << ' ' << size;
  return out;
}

/// No groups, two halves, groups of 1, 2, 3, 4 as far as they go, and one group of all.
std::vector<std::vector<int>> some_groups(int n) {
  std::vector<std::vector<int>> groups{{}, {n}};
  if (n > 2) groups.push_back({n / 2, n - n / 2});
  for (const int size : {2, 3, 4}) {
    if (n <= size) continue;
    groups.emplace_back(static_cast<std::size_t>(n / size), size);
    if (n % size != 0) groups.back().push_back(n % size);
  }
  return groups;
}

/// Calls use(row, asked) for every row and everything it does not refuse, 1 to 16 ranks.
template <class Use>
void for_everything(const std::vector<int>& pieces, const Use& use) {
  for (const Algorithm& row : algorithms()) {
    for (int n = 1; n <= kMostRanks; ++n) {
      for (const std::vector<int>& groups : some_groups(n)) {
        for (const int k : pieces) {
          const std::vector<int> order = some_order(n);
          const Asked asked{order, groups, order[static_cast<std::size_t>(n / 2)], k};
          if (row.refuse(asked.request()).empty()) use(row, asked);
        }
      }
    }
  }
}

constexpr CollectiveOp kRingOps[] = {CollectiveOp::all_reduce, CollectiveOp::broadcast,
                                     CollectiveOp::reduce_scatter, CollectiveOp::all_gather,
                                     CollectiveOp::reduce};

}  // namespace

TEST_CASE("every algorithm proves its post-condition in every order its needs allow") {
  for_everything({1, 3}, [](const Algorithm& row, const Asked& asked) {
    const std::optional<std::string> wrong = disprove(lanes_of(row, asked.request()));
    INFO(row.name << " with " << asked << ": " << wrong.value_or("proven"));
    CHECK_FALSE(wrong.has_value());
  });
}

TEST_CASE("every algorithm proves its post-condition when every message goes as early as it may") {
  for_everything({1, 3}, [](const Algorithm& row, const Asked& asked) {
    const std::optional<std::string> wrong = disprove(expand(lanes_of(row, asked.request())));
    INFO(row.name << " with " << asked << ": " << wrong.value_or("proven"));
    CHECK_FALSE(wrong.has_value());
  });
}

TEST_CASE("every algorithm works for every root") {
  const std::vector<int> order = some_order(7);
  for (const Algorithm& row : algorithms()) {
    for (int root = 0; root < 7; ++root) {
      const AlgorithmRequest request{order, root, 2};
      if (row.refuse(request).empty()) CHECK_FALSE(disprove(lanes_of(row, request)).has_value());
    }
  }
}

TEST_CASE("the closed forms of every algorithm equal what its lanes count") {
  for_everything({1, 4}, [](const Algorithm& row, const Asked& asked) {
    const LaneCosts counted = count_costs(lanes_of(row, asked.request())),
                    closed = costs_of(row, asked.request());
    INFO(row.name << " with " << asked);
    CHECK(counted.hops == closed.hops);
    CHECK(counted.steps == closed.steps);
    CHECK(counted.sent == Approx(closed.sent));
    CHECK(counted.received == Approx(closed.received));
    CHECK(counted.pair == Approx(closed.pair));
    CHECK(counted.message == Approx(closed.message));
    CHECK(counted.chain == Approx(closed.chain));
    CHECK(counted.messages == closed.messages);
    CHECK(counted.added == Approx(closed.added));
  });
}

TEST_CASE(
    "the written-out schedule has as many steps as the longest chain, one more where data must not come "
    "early") {
  for_everything({1, 3}, [](const Algorithm& row, const Asked& asked) {
    const Lanes lanes = lanes_of(row, asked.request());
    INFO(row.name << " with " << asked);
    // Ranks that fold in are one message behind their partners, whose data must wait for theirs in a schedule
    // without buffers.
    const bool folds = row.family == AlgorithmFamily::recursive_doubling &&
                       !std::has_single_bit(static_cast<unsigned>(lanes.ranks));
    const int least = count_costs(lanes).steps, steps = expand(lanes).steps();
    CHECK(steps >= least);
    CHECK(steps <= least + (folds ? 1 : 0));
  });
}

TEST_CASE("every algorithm sends at least the bytes the operation needs, some rank at least its share") {
  for_everything({2}, [](const Algorithm& row, const Asked& asked) {
    const Lanes lanes = lanes_of(row, asked.request());
    const int n = lanes.ranks;
    if (n == 1) return;
    const LaneCosts costs = count_costs(lanes);
    INFO(row.name << " with " << asked);
    CHECK(costs.total >= least_total_bytes(row.op, n) - 1e-9);
    // A switch that adds and multicasts spares the ranks: each byte goes up and comes down once.
    const double share = lanes.switches > 0 ? busbw_factor(row.op, n) / 2 : busbw_factor(row.op, n);
    CHECK(std::max(costs.sent, costs.received) >= share - 1e-9);
  });
}

TEST_CASE("one rank needs no lanes and no time") {
  const std::vector<int> alone{0};
  for (const Algorithm& row : algorithms()) {
    CHECK(lanes_of(row, {alone}).lanes.empty());
    CHECK(costs_of(row, {alone}) == LaneCosts{});
  }
}

TEST_CASE("costs do not depend on which rank stands where or which is the root") {
  for (const Algorithm& row : algorithms()) {
    for (const int n : {2, 8, 12}) {
      std::vector<int> straight = some_order(n);
      std::ranges::sort(straight);
      const AlgorithmRequest one{straight, 0, 2};
      if (!row.refuse(one).empty()) continue;
      const std::vector<int> mixed = some_order(n);
      INFO(row.name << " with " << n << " ranks");
      CHECK(count_costs(lanes_of(row, one)) == count_costs(lanes_of(row, {mixed, n - 1, 2})));
    }
  }
}

TEST_CASE("rows are found by op and family, and names are unique") {
  std::vector<std::string_view> names;
  for (const Algorithm& row : algorithms()) {
    CHECK(find_algorithm(row.op, row.family) == &row);
    CHECK(find_algorithm(row.op, name_of(row.family)) == &row);
    CHECK(row.name == std::string(name_of(row.family)) + '_' + std::string(name_of(row.op)));
    names.push_back(row.name);
  }
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
  CHECK(find_algorithm(CollectiveOp::alltoall, "ring") == nullptr);
}

TEST_CASE("the ring's traffic is that of its row in the limit of many pieces") {
  for (const CollectiveOp op : kRingOps) {
    const Algorithm& row = *find_algorithm(op, "ring");
    for (int n = 1; n <= kMostRanks; ++n) {
      const std::vector<int> order = some_order(n);
      const LaneCosts costs = costs_of(row, {order});
      CHECK(costs.pair == Approx(ring_traffic(op, n).bytes_per_edge));
      CHECK(costs.hops == ring_traffic(op, n).steps);
    }
  }
}

}  // namespace collective_laws
