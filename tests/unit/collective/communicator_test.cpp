// What a communicator plans: protocol, latency, flows.
#include "sim/collective/communicator.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

using namespace foretrain;
using namespace foretrain::test;

namespace {

Communicator communicator_of(const ClusterSpec& spec, int gpus) {
  return Communicator(Cluster::build(spec, spec.nodes), place_packed(gpus, spec.node.gpus));
}

double total_weight(const std::vector<PatternFlow>& flows) {
  double sum = 0;
  for (const PatternFlow& flow : flows) sum += flow.weight;
  return sum;
}

}  // namespace

TEST_CASE("one rank has nothing to do") {
  const Communicator alone = communicator_of(nvlink_cluster(1, 2), 1);
  const CollectivePlan plan = alone.plan(CollectiveOp::all_reduce, {1 << 20});
  CHECK(plan.latency == Time::zero());
  CHECK(plan.alone == Time::zero());
  CHECK(plan.channels == 0);
  CHECK(alone.flows(CollectiveOp::all_reduce, plan.protocol).empty());
}

TEST_CASE("small messages go by LL, large ones by Simple") {
  const Communicator communicator = communicator_of(nvlink_cluster(1, 2), 4);
  CHECK(communicator.plan(CollectiveOp::all_reduce, {1 << 10}).protocol == Protocol::ll);
  CHECK(communicator.plan(CollectiveOp::all_reduce, {1 << 30}).protocol == Protocol::simple);
}

TEST_CASE("latencies follow the ring formula of NCCL") {
  // 4 ranks on NVLink: 2(n-1) = 6 steps.
  const Communicator node = communicator_of(nvlink_cluster(1, 2), 4);
  CHECK(node.plan(CollectiveOp::all_reduce, {1}, Protocol::ll).latency == microseconds(6.6) + 6 * microseconds(0.6));
  CHECK(node.plan(CollectiveOp::broadcast, {1}, Protocol::simple).latency == microseconds(8.4) + 3 * microseconds(3.4));
  // 8 ranks on 2 nodes: 14 steps, 2(N-1) = 2 of them over the network; LL posts take 1 us at least.
  const Communicator two = communicator_of(nvlink_cluster(2, 2), 8);
  CHECK(two.plan(CollectiveOp::all_reduce, {1}, Protocol::ll).latency ==
        microseconds(6.6) + 12 * microseconds(1.0) + 2 * microseconds(2.7));
  CHECK(two.plan(CollectiveOp::all_reduce, {1}, Protocol::simple).latency ==
        microseconds(8.4) + 12 * microseconds(3.4) + 2 * microseconds(14));
}

TEST_CASE("LL128 needs NVLink and Volta, and says so") {
  CHECK(communicator_of(nvlink_cluster(1, 2), 4).is_available(Protocol::ll128));
  const Communicator pcie = communicator_of(pcie_cluster(1, 4), 4);
  CHECK_FALSE(pcie.is_available(Protocol::ll128));
  CHECK_THAT(pcie.plan(CollectiveOp::all_reduce, {1 << 20}).why, ContainsSubstring("LL128 off (no NVLink"));
  ClusterSpec pascal = nvlink_cluster(1, 2);
  pascal.node.gpu.architecture = Architecture::pascal;
  CHECK_FALSE(communicator_of(pascal, 4).is_available(Protocol::ll128));
}

TEST_CASE("equal routes of several channels are one flow") {
  ClusterSpec spec = pcie_cluster(1, 8);
  spec.node.nvswitches = 1;
  for (int g = 0; g < 8; ++g) spec.node.links.push_back(connect("gpu" + std::to_string(g), "nvswitch0", nvlink3(), 12));
  const std::vector<PatternFlow> flows = communicator_of(spec, 8).flows(CollectiveOp::all_reduce, Protocol::simple);
  CHECK(flows.size() == 8);
  // 2(n-1)/n bytes per edge at 84 % of the link rate
  for (const PatternFlow& flow : flows) CHECK(flow.weight == Approx(2 * 7.0 / 8 / 0.84));
}

TEST_CASE("a broadcast leaves the edge into rank 0 idle, a reduce the one out of it") {
  const Cluster cluster = Cluster::build(star_cluster(4, {1e9}), 4);
  const Communicator communicator(cluster, place_packed(4, 1));
  const auto touches = [&](CollectiveOp op, bool into) {
    const std::vector<PatternFlow> flows = communicator.flows(op, Protocol::simple);
    return std::ranges::any_of(flows, [&](const PatternFlow& flow) {
      const VertexId end = into ? cluster.links()[flow.route.back()].to : cluster.links()[flow.route.front()].from;
      return end == cluster.gpu(0, 0);
    });
  };
  CHECK_FALSE(touches(CollectiveOp::broadcast, true));
  CHECK(touches(CollectiveOp::broadcast, false));
  CHECK(touches(CollectiveOp::reduce, true));
  CHECK_FALSE(touches(CollectiveOp::reduce, false));
}

TEST_CASE("LL moves at least twice the bytes of Simple") {
  const Communicator communicator = communicator_of(nvlink_cluster(2, 2), 8);
  CHECK(total_weight(communicator.flows(CollectiveOp::all_reduce, Protocol::ll)) >=
        2 * total_weight(communicator.flows(CollectiveOp::all_reduce, Protocol::simple)));
}

TEST_CASE("the bus bandwidth of LL stays below its limit") {
  const Communicator communicator = communicator_of(nvlink_cluster(1, 2), 4);
  const CollectivePlan plan = communicator.plan(CollectiveOp::all_reduce, {1LL << 32}, Protocol::ll);
  const double bus = 1.5 * static_cast<double>(1LL << 32) / to_seconds(plan.alone - plan.latency);
  CHECK(bus == Approx(39e9));  // llMax of Volta in one node
}

TEST_CASE("huge messages saturate instead of overflowing") {
  const Communicator communicator = communicator_of(star_cluster(2, {1}), 2);
  CHECK(communicator.plan(CollectiveOp::all_reduce, {std::numeric_limits<std::int64_t>::max()}).alone >= kLongestTime);
}
