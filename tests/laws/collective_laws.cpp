// Laws of collectives, over every row of the algorithm catalog and over many communicators.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "sim/collective/algorithms/catalog.hpp"
#include "sim/collective/communicator.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr int kMostRanks = 16;

/// 0, 3, 6, … : a ring that is not in index order (n not a multiple of 3), else the reverse.
std::vector<int> some_order(int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = n % 3 == 0 ? n - 1 - i : 3 * i % n;
  return order;
}

/// Bytes over the busiest pair of ranks per byte of message, counted.
double counted_bytes(const Schedule& schedule) {
  std::map<std::pair<int, int>, int> chunks;
  int most = 0;
  for (const Transfer& t : schedule.transfers) most = std::max(most, ++chunks[{t.from, t.to}]);
  return static_cast<double>(most) / schedule.chunks;
}

/// What the ranks must send together at least, per byte of message: every contribution must leave its rank, every result arrive.
double least_total_bytes(CollectiveOp op, int n) { return op == CollectiveOp::all_reduce ? 2.0 * (n - 1) : n - 1.0; }

constexpr CollectiveOp kOps[] = {CollectiveOp::all_reduce, CollectiveOp::broadcast, CollectiveOp::reduce_scatter, CollectiveOp::all_gather,
                                 CollectiveOp::reduce};

std::vector<ClusterSpec> some_clusters() {
  ClusterSpec staged = pcie_cluster(2, 4);
  staged.node.peer_access = false;
  return {star_cluster(6, {12.5e9}), nvlink_cluster(3, 1), nvlink_cluster(4, 2), pcie_cluster(2, 4), staged};
}

int gpus_of(const ClusterSpec& spec) { return spec.nodes * spec.node.gpus; }

}  // namespace

TEST_CASE("every algorithm proves its post-condition for 1 to 16 ranks, any root, any pipeline") {
  for (const Algorithm& algorithm : algorithms()) {
    for (int n = 1; n <= kMostRanks; ++n) {
      for (const int k : {1, 3}) {
        const std::vector<int> order = some_order(n);
        const std::optional<std::string> wrong = disprove(algorithm.schedule(order, order.back(), k));
        INFO(algorithm.name << " with " << n << " ranks: " << wrong.value_or("proven"));
        CHECK_FALSE(wrong.has_value());
      }
    }
  }
}

TEST_CASE("the closed forms of every algorithm equal what its schedule counts") {
  for (const Algorithm& algorithm : algorithms()) {
    for (int n = 1; n <= kMostRanks; ++n) {
      for (const int k : {1, 4}) {
        const Schedule schedule = algorithm.schedule(some_order(n), 0, k);
        INFO(algorithm.name << " with " << n << " ranks");
        CHECK(counted_bytes(schedule) == Approx(algorithm.bytes_per_edge(n)));
        CHECK(schedule.steps() == algorithm.steps(n, k));
        CHECK(algorithm.bytes_per_edge(n) == ring_traffic(algorithm.op, n).bytes_per_edge);
      }
    }
  }
}

TEST_CASE("every algorithm sends at least the bytes the operation needs") {
  for (const Algorithm& algorithm : algorithms()) {
    for (int n = 1; n <= kMostRanks; ++n) {
      const Schedule schedule = algorithm.schedule(some_order(n), 0, 2);
      const double sent = static_cast<double>(schedule.transfers.size()) / schedule.chunks;
      CHECK(sent >= least_total_bytes(algorithm.op, n) - 1e-9);
    }
  }
}

TEST_CASE("the time alone is latency plus the fullest link of the flows") {
  for (const ClusterSpec& spec : some_clusters()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    const Communicator communicator(cluster, place_packed(gpus_of(spec), spec.node.gpus));
    for (const CollectiveOp op : kOps) {
      for (const Protocol protocol : {Protocol::ll, Protocol::simple}) {
        std::vector<double> load(cluster.links().size());
        double slowest = 0;
        for (const PatternFlow& flow : communicator.flows(op, protocol)) {
          for (const LinkId link : flow.route)
            slowest = std::max(slowest, (load[link] += flow.weight) / cluster.links()[link].bandwidth.per_second);
        }
        const CollectivePlan plan = communicator.plan(op, {100'000'000}, protocol);
        CHECK(to_seconds(plan.alone - plan.latency) == Approx(slowest * 1e8));
      }
    }
  }
}

TEST_CASE("relabelled ranks take the same time") {
  for (const ClusterSpec& spec : some_clusters()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    const Placement packed = place_packed(gpus_of(spec), spec.node.gpus);
    Placement relabelled = packed;
    std::ranges::reverse(relabelled.ranks);
    std::swap(relabelled.ranks[0], relabelled.ranks[2]);
    for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
      for (const std::int64_t size : {1'000, 1'000'000, 1'000'000'000}) {
        CHECK(Communicator(cluster, packed).plan(op, {size}).alone == Communicator(cluster, relabelled).plan(op, {size}).alone);
      }
    }
  }
}

TEST_CASE("more bytes are never faster, and more bandwidth is never slower") {
  for (const ClusterSpec& spec : some_clusters()) {
    ClusterSpec wider = spec;
    wider.fabric.link.bandwidth = spec.fabric.link.bandwidth * 2;
    for (NodeLink& link : wider.node.links) link.type.bandwidth = link.type.bandwidth * 2;
    const Placement ranks = place_packed(gpus_of(spec), spec.node.gpus);
    const Communicator communicator(Cluster::build(spec, spec.nodes), ranks), faster(Cluster::build(wider, spec.nodes), ranks);
    for (const CollectiveOp op : kOps) {
      Time before{};
      for (std::int64_t size = 1; size <= 1LL << 34; size *= 8) {
        const Time now = communicator.plan(op, {size}).alone;
        CHECK(now >= before);
        CHECK(faster.plan(op, {size}).alone <= now);
        before = now;
      }
    }
  }
}

TEST_CASE("every ring visits every rank once and shares the message evenly") {
  for (const ClusterSpec& spec : some_clusters()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    for (int gpus = 1; gpus <= gpus_of(spec); ++gpus) {
      for (const Layout layout : {Layout::packed, Layout::spread}) {
        for (const Channel& channel : find_rings(cluster, place(gpus, spec.node.gpus, layout, spec.nodes)).channels) {
          std::vector<int> ranks = channel.order, all(static_cast<std::size_t>(gpus));
          std::ranges::sort(ranks);
          std::iota(all.begin(), all.end(), 0);
          REQUIRE(ranks == all);
        }
      }
    }
  }
}

TEST_CASE("two communicators of one job have the same flows") {
  for (const ClusterSpec& spec : some_clusters()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    const Placement ranks = place_packed(gpus_of(spec), spec.node.gpus);
    const auto a = Communicator(cluster, ranks).flows(CollectiveOp::all_reduce, Protocol::simple);
    const auto b = Communicator(cluster, ranks).flows(CollectiveOp::all_reduce, Protocol::simple);
    CHECK(std::ranges::equal(a, b, [](const PatternFlow& x, const PatternFlow& y) { return x.route == y.route && x.weight == y.weight; }));
  }
}
