// The curve of a collective on small machines, and questions that have no answer.
#include "sim/analysis/collective/collective_curve.hpp"

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace collective_curve_test {

using namespace foretrain;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

CollectiveQuestion question(int gpus, std::vector<Bytes> sizes, CollectiveOp op = CollectiveOp::all_reduce) {
  CollectiveQuestion q;
  q.cluster = test::star_cluster(8, {1.25e9});  // slower than one thread block
  q.op = op, q.gpus = gpus;
  q.sizes = std::move(sizes);
  return q;
}

std::string refusal(const CollectiveQuestion& q) {
  try {
    predict_collective(q);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Transport slow_gloo() {
  Transport transport;
  transport.library = "gloo";
  transport.message_overhead = microseconds(10);
  return transport;
}

}  // namespace

TEST_CASE("bandwidths follow from size and time as in nccl-tests") {
  const CollectiveCurve curve = predict_collective(question(4, {{kMiB}, {256 * kMiB}}));
  REQUIRE(curve.points.size() == 2);
  CHECK(curve.gpus() == 4);
  CHECK(curve.placement.nodes == 4);
  for (const CollectivePoint& p : curve.points) {
    CHECK(p.time > Time::zero());
    CHECK(p.algbw.per_second == Approx(static_cast<double>(p.size.count) / to_seconds(p.time)));
    CHECK(p.busbw.per_second == Approx(1.5 * p.algbw.per_second));  // 2 (n - 1) / n
    CHECK(p.time >= p.launch);
    CHECK(p.why.empty());
  }
  CHECK(curve.points[1].bound == BoundBy::link);
  CHECK(curve.points[1].busbw.per_second <= 1.25e9);
}

TEST_CASE("the bottleneck of many nodes is a NIC, in words") {
  const CollectiveCurve curve = predict_collective(question(4, {{256 * kMiB}}));
  REQUIRE(curve.points[0].bottleneck >= 0);
  CHECK_THAT(curve.links.at(static_cast<std::size_t>(curve.points[0].bottleneck)),
             ContainsSubstring("nic0 of node"));
}

TEST_CASE("links are named once for all sizes") {
  CollectiveQuestion q = question(4, {});
  for (std::int64_t size = 4; size < 4096; size += 4) q.sizes.push_back({size});
  CHECK(predict_collective(q).links.size() <= 2);
}

TEST_CASE("sizes are rounded as nccl-tests rounds them") {
  CHECK(run_size(CollectiveOp::all_reduce, {10}, 8) == Bytes{8});
  CHECK(run_size(CollectiveOp::broadcast, {3}, 8) == Bytes{0});
  CHECK(run_size(CollectiveOp::all_gather, {127}, 8) == Bytes{0});     // less than 16 bytes per rank
  CHECK(run_size(CollectiveOp::all_gather, {1000}, 8) == Bytes{896});  // 7 x 16 bytes on each of 8
  CHECK(run_size(CollectiveOp::alltoall, {96}, 3) == Bytes{96});
  CHECK(run_size(CollectiveOp::sendrecv, {7}, 2) == Bytes{4});
  CHECK(counted_elements(CollectiveOp::all_reduce, {64}, 8) == 16);
  CHECK(counted_elements(CollectiveOp::all_gather, {1024}, 8) == 32);
}

TEST_CASE("nothing to send takes no time") {
  const CollectiveCurve curve = predict_collective(question(4, {{0}, {3}}));
  REQUIRE(curve.points.size() == 2);
  for (const CollectivePoint& p : curve.points) {
    CHECK(p.time == Time::zero());
    CHECK(p.algbw.per_second == 0);
    CHECK(p.bound == BoundBy::nothing);
  }
}

TEST_CASE("one rank has no bus bandwidth, but an answer") {
  for (const CollectiveOp op : kCollectiveOps) {
    INFO(name_of(op));
    const CollectiveCurve curve = predict_collective(question(1, {{kMiB}}, op));
    REQUIRE(curve.points.size() == 1);
    CHECK(curve.points[0].time > Time::zero());
  }
}

TEST_CASE("every operation takes longer for more") {
  for (const CollectiveOp op : kCollectiveOps) {
    INFO(name_of(op));
    const CollectiveCurve curve = predict_collective(question(4, {{kMiB}, {64 * kMiB}}, op));
    CHECK(curve.points[0].time < curve.points[1].time);
  }
}

TEST_CASE("GPUs are packed, or spread when nodes are given") {
  ClusterSpec cluster;
  cluster.name = "c", cluster.nodes = 4, cluster.node.gpus = 4;
  CHECK(place_job(cluster, 6, 0).nodes == 2);
  CHECK(place_job(cluster, 4, 0).nodes == 1);
  const Placement spread = place_job(cluster, 6, 3);
  CHECK(spread.nodes == 3);
  CHECK(spread.ranks[2] == GpuPlace{1, 0});
}

TEST_CASE("jobs that do not fit are refused with the reason") {
  CollectiveQuestion q = question(0, {{8}});
  CHECK(refusal(q) == "error: 0 GPUs run nothing\n  hint: at least one; one GPU copies\n");
  q.gpus = 9;
  CHECK(refusal(q) == "error: cluster star has 8 GPUs, not 9\n");
  q.gpus = 4, q.nodes = 9;
  CHECK(refusal(q) == "error: cluster star has 8 nodes, not 9\n");
  q.nodes = 2;
  CHECK(refusal(q) == "error: 4 GPUs do not fit on 2 nodes of star\n  hint: a node has 1; take 4 nodes\n");
  q.nodes = 5;
  CHECK(refusal(q) == "error: 4 GPUs leave some of 5 nodes empty\n  hint: at most one node per GPU\n");
}

TEST_CASE("a size that takes weeks is refused") {
  CollectiveQuestion q = question(4, {{std::int64_t{1} << 50}});
  q.cluster = test::star_cluster(8, {1e8});  // 1.1e15 B x 1.5 / 1e8 B/s = 195 days
  CHECK_THAT(refusal(q), ContainsSubstring("all_reduce of 1.13 PB takes longer than"));
}

TEST_CASE("what is forced and cannot run is said") {
  CollectiveQuestion q = question(4, {{kMiB}});
  q.settings.nccl.algorithm = nccl::Algorithm::nvls;
  CollectiveCurve curve = predict_collective(q);
  REQUIRE(curve.warnings.size() == 1);
  CHECK(
      curve.warnings[0] ==
      "NVLS cannot do all_reduce here at every size; there NCCL's own choice stands (NCCL itself may stop)");
  q.settings.nccl.algorithm = nccl::Algorithm::ring, q.settings.nccl.protocol = Protocol::simple;
  curve = predict_collective(q);
  CHECK(curve.warnings.empty());
  CHECK(curve.points[0].algorithm == "Ring");
  CHECK(curve.points[0].protocol == "Simple");
  q.op = CollectiveOp::alltoall;
  REQUIRE(predict_collective(q).warnings.size() == 1);
  CHECK(predict_collective(q).warnings[0] ==
        "Ring with Simple has no effect on alltoall: NCCL makes it of sends and receives");
}

TEST_CASE("explained points say what lost") {
  CollectiveQuestion q = question(4, {{kMiB}, {0}});
  q.explain = true;
  const CollectiveCurve curve = predict_collective(q);
  CHECK_FALSE(curve.points[0].why.empty());
  CHECK(curve.points[1].why == "nothing to send: nothing is launched");
}

TEST_CASE("another transport is bound by its messages, then by the NIC") {
  CollectiveQuestion q = question(4, {{1024}, {256 * kMiB}});
  q.transport = slow_gloo();
  const CollectiveCurve curve = predict_collective(q);
  CHECK(curve.library == "gloo");
  CHECK(curve.points[0].bound == BoundBy::latency);
  CHECK(curve.points[1].bound == BoundBy::link);
  CHECK(curve.points[1].busbw.per_second <= 1.25e9);
  CHECK_THAT(curve.links.at(0), ContainsSubstring("nic0"));
  CHECK(curve.points[0].launch == Time::zero());
}

TEST_CASE("inside one CPU's memory another transport copies") {
  CollectiveQuestion q = question(2, {{256 * kMiB}});
  q.cluster.node.gpus = 2;
  q.cluster.node.links.push_back(test::connect("gpu1", "cpu0", test::pcie3()));
  q.transport = slow_gloo();
  const CollectiveCurve curve = predict_collective(q);
  CHECK(curve.links.at(0) == "copies in the memory of a CPU");
  CHECK(curve.points[0].busbw.per_second <= q.cluster.node.host.memory_bandwidth.per_second);
}

}  // namespace collective_curve_test
