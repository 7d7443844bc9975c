// Collectives on whole machines: closed forms on an idle star, and bus bandwidths measured elsewhere.
#include <cmath>

#include "sim/collective/communicator.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// As nccl-tests defines it for all_reduce: 2(n-1)/n x size / time, in GB/s.
double bus_bandwidth(const Cluster& cluster, int gpus, Bytes size) {
  const Communicator communicator(cluster, place_packed(gpus, cluster.spec().node.gpus));
  const double time = to_seconds(communicator.plan(CollectiveOp::all_reduce, size).alone);
  return 2.0 * (gpus - 1) / gpus * static_cast<double>(size.count) / time * 1e-9;
}

ClusterSpec a100_mesh() {
  ClusterSpec spec = nvlink_cluster(1, 2);
  spec.node.gpu.architecture = Architecture::ampere;
  for (NodeLink& link : spec.node.links) {
    if (link.type.kind == LinkKind::nvlink) link.type = nvlink3(), link.count = 4;
  }
  return spec;
}

constexpr Bytes kLarge{1LL << 30};

}  // namespace

TEST_CASE("an all-reduce over single-GPU nodes at one switch takes its latency and 2(n-1)/n S/B") {
  const double rate = 12.5e9;
  for (const int n : {2, 3, 8}) {
    const Cluster cluster = Cluster::build(star_cluster(n, {rate}), n);
    const Communicator communicator(cluster, place_packed(n, 1));
    const CollectivePlan plan = communicator.plan(CollectiveOp::all_reduce, kLarge, Protocol::simple);
    // Simple over the network: 8.4 us once and 2(n-1) steps of 14 us.
    CHECK(plan.latency == microseconds(8.4) + 2 * (n - 1) * microseconds(14));
    const double data = 2.0 * (n - 1) / n * static_cast<double>(kLarge.count) / rate;
    CHECK(std::abs((plan.alone - plan.latency - seconds(data)).count()) <= 1);
  }
}

TEST_CASE("a broadcast over single-GPU nodes moves every byte once over every NIC but one") {
  const Cluster cluster = Cluster::build(star_cluster(4, {10e9}), 4);
  const Communicator communicator(cluster, place_packed(4, 1));
  const CollectivePlan plan = communicator.plan(CollectiveOp::broadcast, {1'000'000'000}, Protocol::simple);
  CHECK(plan.latency == microseconds(8.4) + 3 * microseconds(14));
  CHECK(plan.alone - plan.latency == seconds(0.1));  // 1 GB at 10 GB/s
}

// Measured: 129 to 135 GB/s on V100 nodes whose GPUs have six NVLinks (nccl-tests logs, measured/nccl_graphs.csv).
TEST_CASE("four V100 with two NVLinks between each pair reach the measured bus bandwidth of 130 GB/s") {
  const Cluster cluster = Cluster::build(nvlink_cluster(1, 2), 1);
  CHECK(bus_bandwidth(cluster, 4, kLarge) == Approx(130).epsilon(0.10));
}

// Measured: 227.8 GB/s (facts/HARDWARE.md, collective reference points, GNX).
TEST_CASE("four A100 with four NVLinks between each pair reach the measured bus bandwidth of 227.8 GB/s") {
  const Cluster cluster = Cluster::build(a100_mesh(), 1);
  CHECK(bus_bandwidth(cluster, 4, kLarge) == Approx(227.8).epsilon(0.10));
}

// Two rails of 12.3 GB/s, each carrying half of the message: 24.6 GB/s at most.
TEST_CASE("two nodes of four GPUs with two HDR100 rails use both rails in full") {
  const Cluster cluster = Cluster::build(nvlink_cluster(2, 2), 2);
  CHECK(bus_bandwidth(cluster, 8, {4LL << 30}) == Approx(24).epsilon(0.10));
  CHECK(bus_bandwidth(cluster, 8, {4LL << 30}) < 24.6);
}

TEST_CASE("half the NIC rate takes twice the time between nodes") {
  const Cluster fast = Cluster::build(star_cluster(2, {10e9}), 2), slow = Cluster::build(star_cluster(2, {5e9}), 2);
  const auto data = [](const Cluster& cluster) {
    const CollectivePlan plan = Communicator(cluster, place_packed(2, 1)).plan(CollectiveOp::all_reduce, kLarge, Protocol::simple);
    return to_seconds(plan.alone - plan.latency);
  };
  CHECK(data(slow) == Approx(2 * data(fast)));
}

TEST_CASE("without peer access PCIe rings run at half the rate") {
  ClusterSpec spec = pcie_cluster(1, 4);
  const double with = bus_bandwidth(Cluster::build(spec, 1), 4, kLarge);
  spec.node.peer_access = false;
  const double without = bus_bandwidth(Cluster::build(spec, 1), 4, kLarge);
  CHECK(without == Approx(with / 2).epsilon(0.01));
}
