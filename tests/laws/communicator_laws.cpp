// Laws of communicators, over many clusters.
#include <algorithm>
#include <cmath>

#include "sim/collective/communicator.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace communicator_laws {

using namespace foretrain;
using namespace foretrain::test;

namespace {

using AlgorithmId = nccl::Algorithm;

std::vector<ClusterSpec> some_clusters() {
  ClusterSpec staged = pcie_cluster(2, 4);
  staged.node.peer_access = false;
  return {star_cluster(6, {12.5e9}), nvlink_cluster(3, 1), nvlink_cluster(4, 2), pcie_cluster(2, 4), staged,
          cube_mesh_node(),          h100_cluster(2)};
}

int gpus_of(const ClusterSpec& spec) { return spec.nodes * spec.node.gpus; }

/// The same cluster with every link so much wider.
ClusterSpec widened(ClusterSpec spec, double factor) {
  spec.fabric.link.bandwidth = spec.fabric.link.bandwidth * factor;
  for (NodeLink& link : spec.node.links) link.type.bandwidth = link.type.bandwidth * factor;
  return spec;
}

std::vector<CollectiveSettings> all_forced() {
  std::vector<CollectiveSettings> settings;
  for (const AlgorithmId algorithm : {AlgorithmId::ring, AlgorithmId::tree, AlgorithmId::nvls}) {
    for (const Protocol protocol : kProtocols) settings.push_back(forced(algorithm, protocol));
  }
  return settings;
}

bool obeys(const CollectivePlan& plan, const CollectiveSettings& settings) {
  return plan.algorithm == settings.nccl.algorithm && plan.protocol == settings.nccl.protocol;
}

}  // namespace

TEST_CASE("the parts of a plan add up and none is negative") {
  for (const ClusterSpec& spec : some_clusters()) {
    const OneJob job(spec, gpus_of(spec));
    for (const CollectiveOp op : kCollectiveOps) {
      for (std::int64_t size = 0; size <= std::int64_t{1} << 40;
           size = std::max<std::int64_t>(1, 16 * size)) {
        const CollectivePlan plan = job.plan(op, size);
        const CollectiveTiming& t = plan.timing;
        INFO(spec.name << ", " << name_of(op) << ", " << size << " bytes");
        CHECK(std::min({t.start, t.steps, t.fill, t.data}) >= Time::zero());
        CHECK(plan.latency == t.start + t.steps + t.fill);
        CHECK(plan.alone == plan.latency + t.data);
        CHECK(plan.back_to_back() >= plan.launch);
        CHECK(plan.back_to_back() <= std::max(plan.launch, plan.alone));
        CHECK(plan.stretch >= 1);
      }
    }
  }
}

TEST_CASE("the data time is the fullest link of the flows") {
  for (const ClusterSpec& spec : some_clusters()) {
    const OneJob job(spec, gpus_of(spec));
    for (const CollectiveOp op : kCollectiveOps) {
      for (const std::int64_t size : {100'000LL, 100'000'000LL}) {
        const CollectivePlan plan = job.plan(op, size);
        std::vector<double> load(job.cluster.links().size());
        double slowest = 0;
        for (const PatternFlow& flow : job.communicator.flows(plan)) {
          for (const LinkId link : flow.route) {
            slowest = std::max(slowest,
                               (load[link] += flow.weight) / job.cluster.links()[link].bandwidth.per_second);
          }
        }
        INFO(spec.name << ", " << name_of(op) << ", " << size << " bytes, " << plan.algorithm_name() << "/"
                       << name_of(plan.protocol));
        CHECK(to_seconds(plan.timing.data) == Approx(slowest * static_cast<double>(size)).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("relabelled ranks take the same time") {
  for (const ClusterSpec& spec : some_clusters()) {
    const Placement packed = place_packed(gpus_of(spec), spec.node.gpus);
    Placement relabelled = packed;
    std::ranges::reverse(relabelled.ranks);
    std::swap(relabelled.ranks[0], relabelled.ranks[2]);
    const OneJob one(spec, packed), other(spec, relabelled);
    for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                  CollectiveOp::reduce_scatter, CollectiveOp::alltoall}) {
      for (const std::int64_t size : {1'000LL, 1'000'000LL, 1'000'000'000LL}) {
        INFO(spec.name << ", " << name_of(op) << ", " << size << " bytes");
        CHECK(to_seconds(one.plan(op, size).alone) ==
              Approx(to_seconds(other.plan(op, size).alone)).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("more bandwidth is never slower for one algorithm and protocol") {
  for (const ClusterSpec& spec : some_clusters()) {
    for (const CollectiveSettings& settings : all_forced()) {
      const OneJob job(spec, gpus_of(spec), settings), faster(widened(spec, 2), gpus_of(spec), settings);
      for (const CollectiveOp op : kCollectiveOps) {
        for (std::int64_t size = 1; size <= std::int64_t{1} << 34; size *= 8) {
          const CollectivePlan now = job.plan(op, size), then = faster.plan(op, size);
          if (!obeys(now, settings) || !obeys(then, settings)) continue;
          if (then.channels < now.channels)
            continue;  // NCCL gives a fast ring more threads, so that a small message fills fewer channels
          INFO(spec.name << ", " << name_of(op) << ", " << size << " bytes, " << now.algorithm_name() << "/"
                         << name_of(now.protocol));
          CHECK(then.alone <= now.alone + Time{2});  // fill and data are each rounded to a picosecond
        }
      }
    }
  }
}

TEST_CASE("from 16 MiB up more bytes are slower for one algorithm and protocol") {
  for (const ClusterSpec& spec : some_clusters()) {
    for (const CollectiveSettings& settings : all_forced()) {
      const OneJob job(spec, gpus_of(spec), settings);
      for (const CollectiveOp op : kCollectiveOps) {
        Time before{};
        for (std::int64_t size = 16 << 20; size <= std::int64_t{1} << 36; size *= 2) {
          const CollectivePlan plan = job.plan(op, size);
          if (!obeys(plan, settings)) continue;
          INFO(spec.name << ", " << name_of(op) << ", " << size << " bytes, " << plan.algorithm_name() << "/"
                         << name_of(plan.protocol));
          CHECK(plan.alone > before);
          before = plan.alone;
        }
      }
    }
  }
}

TEST_CASE("two communicators of one job have the same flows") {
  for (const ClusterSpec& spec : some_clusters()) {
    const OneJob one(spec, gpus_of(spec)), other(spec, gpus_of(spec));
    for (const CollectiveOp op : kCollectiveOps) {
      const auto a = one.communicator.flows(one.plan(op, 1 << 20)),
                 b = other.communicator.flows(other.plan(op, 1 << 20));
      CHECK(std::ranges::equal(a, b, [](const PatternFlow& x, const PatternFlow& y) {
        return x.route == y.route && x.weight == y.weight;
      }));
    }
  }
}

}  // namespace communicator_laws
