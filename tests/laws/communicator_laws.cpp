// Laws of communicators, over many clusters.
#include <algorithm>

#include "sim/collective/communicator.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

using namespace foretrain;
using namespace foretrain::test;

namespace {

std::vector<ClusterSpec> some_clusters() {
  ClusterSpec staged = pcie_cluster(2, 4);
  staged.node.peer_access = false;
  return {star_cluster(6, {12.5e9}), nvlink_cluster(3, 1), nvlink_cluster(4, 2), pcie_cluster(2, 4), staged};
}

int gpus_of(const ClusterSpec& spec) { return spec.nodes * spec.node.gpus; }

}  // namespace

TEST_CASE("the time alone is latency plus the fullest link of the flows") {
  for (const ClusterSpec& spec : some_clusters()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    const Communicator communicator(cluster, place_packed(gpus_of(spec), spec.node.gpus));
    for (const CollectiveOp op : kCollectiveOps) {
      const CollectivePlan plan = communicator.plan(op, {100'000'000});
      std::vector<double> load(cluster.links().size());
      double slowest = 0;
      for (const PatternFlow& flow : communicator.flows(plan)) {
        for (const LinkId link : flow.route)
          slowest = std::max(slowest, (load[link] += flow.weight) / cluster.links()[link].bandwidth.per_second);
      }
      CHECK(to_seconds(plan.alone - plan.latency) == Approx(slowest * 1e8));
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
    const Cluster cluster = Cluster::build(spec, spec.nodes), wide_cluster = Cluster::build(wider, spec.nodes);
    const Communicator communicator(cluster, ranks), faster(wide_cluster, ranks);
    for (const CollectiveOp op : kCollectiveOps) {
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

TEST_CASE("two communicators of one job have the same flows") {
  for (const ClusterSpec& spec : some_clusters()) {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    const Placement ranks = place_packed(gpus_of(spec), spec.node.gpus);
    const Communicator one(cluster, ranks), other(cluster, ranks);
    const auto a = one.flows(one.plan(CollectiveOp::all_reduce, {1 << 20}));
    const auto b = other.flows(other.plan(CollectiveOp::all_reduce, {1 << 20}));
    CHECK(std::ranges::equal(a, b, [](const PatternFlow& x, const PatternFlow& y) { return x.route == y.route && x.weight == y.weight; }));
  }
}
