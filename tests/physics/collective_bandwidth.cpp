// Collectives on whole machines: closed forms on an idle star, and bus bandwidths measured elsewhere.
#include <algorithm>
#include <cmath>

#include "sim/cluster/node_layout.hpp"
#include "sim/cluster/routing.hpp"
#include "sim/collective/communicator.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace collective_bandwidth {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// As nccl-tests defines it, in GB/s.
double bus_bandwidth(const ClusterSpec& spec, int gpus, std::int64_t size) {
  const OneJob job(spec, gpus);
  const double time = to_seconds(job.plan(CollectiveOp::all_reduce, size).alone);
  return busbw_factor(CollectiveOp::all_reduce, gpus) * static_cast<double>(size) / time * 1e-9;
}

ClusterSpec a100_mesh() {
  ClusterSpec spec = nvlink_cluster(1, 2);
  spec.node.gpu.architecture = Architecture::ampere, spec.node.gpu.compute_capability = 8.0;
  for (NodeLink& link : spec.node.links) {
    if (link.type.kind == LinkKind::nvlink) link.type = nvlink3(), link.count = 4;
  }
  return spec;
}

CollectiveSettings ring_simple() { return forced(nccl::Algorithm::ring, Protocol::simple); }

/// A step between nodes whose network says nothing of its latency.
double network_step_of(const CollectiveCosts& costs) {
  return to_seconds(costs.default_network_step) * of(costs.network_factor, Protocol::simple) +
         to_seconds(of(costs.network_step, Protocol::simple));
}

/// Bytes per second on an edge: what the link carries, or what the thread blocks move.
double edge_rate(const CollectiveCosts& costs, const CollectivePlan& plan, double link) {
  return std::min(link, plan.channels * of(costs.channel_rate, plan.protocol).per_second);
}

constexpr std::int64_t kLarge = 1LL << 30;

}  // namespace

TEST_CASE("an all-reduce over single-GPU nodes at one switch takes a kernel, 2(n-1) steps and 2(n-1)/n S/B") {
  for (const double rate : {2.5e9, 12.5e9}) {
    for (const int n : {2, 3, 8}) {
      const OneJob job(star_cluster(n, {rate}), n, ring_simple());
      const CollectiveCosts& costs = job.communicator.costs();
      const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, kLarge);
      // The last 1/n of the message every rank only copies out of its buffer.
      const double last = static_cast<double>(kLarge) / n / (plan.channels * costs.copy_rate.per_second);
      CHECK(to_seconds(plan.latency) ==
            Approx(to_seconds(costs.kernel) + 2 * (n - 1) * network_step_of(costs) + last).epsilon(1e-9));
      const double data = 2.0 * (n - 1) / n * static_cast<double>(kLarge) / edge_rate(costs, plan, rate);
      CHECK(to_seconds(plan.alone - plan.latency) == Approx(data).epsilon(1e-9));
    }
  }
}

TEST_CASE(
    "a broadcast over single-GPU nodes fills its pipeline, then moves every byte once over every NIC but "
    "one") {
  const OneJob job(star_cluster(4, {2e9}), 4, ring_simple());
  const CollectiveCosts& costs = job.communicator.costs();
  const CollectivePlan plan = job.plan(CollectiveOp::broadcast, 1'000'000'000);
  const double rate = edge_rate(costs, plan, 2e9);
  // Every channel forwards a slice as soon as it has it, in equal pieces: of three hops, two are to be
  // filled.
  const double pieces = std::ceil(1e9 / static_cast<double>(plan.chunk.slice() * plan.channels));
  const double fill = 2 * 1e9 / pieces / rate;
  CHECK(to_seconds(plan.latency) ==
        Approx(to_seconds(costs.kernel) + 3 * network_step_of(costs) + fill).epsilon(1e-9));
  CHECK(to_seconds(plan.alone - plan.latency) == Approx(1e9 / rate).epsilon(1e-9));
}

// Measured: 129 to 135 GB/s on V100 nodes whose GPUs have six NVLinks (nccl-tests logs,
// measured/nccl_graphs.csv).
TEST_CASE("four V100 with two NVLinks between each pair reach the measured bus bandwidth of 130 GB/s") {
  CHECK(bus_bandwidth(nvlink_cluster(1, 2), 4, kLarge) == Approx(130).epsilon(0.10));
}

// Measured: 227.8 GB/s (docs/sources/links.md 3).
TEST_CASE("four A100 with four NVLinks between each pair reach the measured bus bandwidth of 227.8 GB/s") {
  CHECK(bus_bandwidth(a100_mesh(), 4, kLarge) == Approx(227.8).epsilon(0.10));
}

// Two rails of 12.3 GB/s, each carrying half of the message: 24.6 GB/s at most.
TEST_CASE("two nodes of four GPUs with two HDR100 rails use both rails in full") {
  const OneJob job(nvlink_cluster(2, 2), 8, ring_simple());
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 4LL << 30);
  const double bus = 2.0 * 7 / 8 * 4.294967296 / to_seconds(plan.alone);
  CHECK(bus == Approx(24).epsilon(0.10));
  CHECK(bus < 24.6);
}

TEST_CASE("half the NIC rate takes twice the time between nodes") {
  const auto data = [](double rate) {
    return to_seconds(
        OneJob(star_cluster(2, {rate}), 2, ring_simple()).plan(CollectiveOp::all_reduce, kLarge).timing.data);
  };
  CHECK(data(2.5e9) == Approx(2 * data(5e9)));
}

// In the ring 0 1 2 3 of one root complex every GPU sends and receives all of an edge's bytes: with peer
// access at kRootComplexShare of the lanes in both directions, without at its staging_share of them.
TEST_CASE("without peer access the links of PCIe rings run at the rate of their staging copies") {
  ClusterSpec spec = pcie_cluster(1, 4);
  const auto pace = [](const ClusterSpec& some) {
    return OneJob(some, 4, ring_simple()).plan(CollectiveOp::all_reduce, kLarge).bottleneck.seconds_per_byte;
  };
  CHECK(pace(spec) == Approx(1 / (12.3e9 * kRootComplexShare)));
  spec.node.peer_access = false;
  CHECK(pace(spec) == Approx(1 / (12.3e9 * Gpu{}.staging_share)));
}

// Rank r sends in K = n - 1 (all-gather) or 2(n - 1) (all-reduce) steps and receives in as many, one later:
// in the last of K + 1 steps it reads from host memory and writes nothing there, in the first it only writes.
// In the others both ways together do 0.96 of the link. Per step 1/n of the message.
TEST_CASE("a ring through host memory takes one step more than it sends in") {
  ClusterSpec spec = pcie_cluster(1, 4);
  spec.node.peer_access = false;
  const double rate = 12.3e9 * Gpu{}.staging_share, both = 2 * Gpu{}.staging_share / 0.96;
  for (const int n : {2, 4}) {
    for (const auto& [op, steps] : {std::pair{CollectiveOp::all_gather, n - 1},
                                    {CollectiveOp::reduce_scatter, n - 1},
                                    {CollectiveOp::all_reduce, 2 * (n - 1)}}) {
      const CollectiveTiming timing = OneJob(spec, n, ring_simple()).plan(op, kLarge).timing;
      CHECK(to_seconds(timing.data + timing.fill) ==
            Approx((2 + (steps - 1) * both) * (static_cast<double>(kLarge) / n) / rate).epsilon(1e-9));
    }
  }
}

}  // namespace collective_bandwidth
