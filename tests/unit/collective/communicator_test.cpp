// What a communicator plans: algorithm, protocol, latency, launch, flows.
#include "sim/collective/communicator.hpp"

#include <algorithm>

#include "sim/collective/fidelity.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace communicator_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

using AlgorithmId = nccl::Algorithm;

double total_weight(const std::vector<PatternFlow>& flows) {
  double sum = 0;
  for (const PatternFlow& flow : flows) sum += flow.weight;
  return sum;
}

}  // namespace

TEST_CASE("one rank copies by the kernel alone") {
  const OneJob job(nvlink_cluster(1, 2), 1);
  for (const CollectiveOp op : kCollectiveOps) {
    const CollectivePlan plan = job.plan(op, 1 << 20);
    CHECK(plan.alone == job.communicator.costs().kernel);
    CHECK(plan.latency == plan.alone);
    CHECK(plan.bottleneck.link == kNone);
    CHECK(job.communicator.flows(plan).empty());
  }
}

TEST_CASE("small messages do not go by Simple, large ones do") {
  const OneJob job(nvlink_cluster(1, 2), 4);
  CHECK(job.plan(CollectiveOp::all_reduce, 1 << 10).protocol == Protocol::ll);
  CHECK(job.plan(CollectiveOp::all_reduce, 1 << 30).protocol == Protocol::simple);
}

TEST_CASE("what NCCL_ALGO and NCCL_PROTO ask for is planned") {
  for (const AlgorithmId algorithm : {AlgorithmId::ring, AlgorithmId::tree}) {
    for (const Protocol protocol : kProtocols) {
      const OneJob job(nvlink_cluster(2, 2), 8, forced(algorithm, protocol));
      const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 1 << 20);
      CHECK(plan.algorithm == algorithm);
      CHECK(plan.protocol == protocol);
    }
  }
}

TEST_CASE("what cannot run is not planned, even when asked for") {
  CHECK(OneJob(pcie_cluster(1, 4), 4, forced(AlgorithmId::nvls))
            .plan(CollectiveOp::all_reduce, 1 << 20)
            .algorithm != AlgorithmId::nvls);
  ClusterSpec pascal = nvlink_cluster(1, 2);
  pascal.node.gpu.architecture = Architecture::pascal, pascal.node.gpu.compute_capability = 6.0;
  const CollectivePlan plan =
      OneJob(pascal, 4, forced({}, Protocol::ll128)).plan(CollectiveOp::all_reduce, 1 << 20);
  CHECK(plan.protocol != Protocol::ll128);
}

TEST_CASE("sends and receives have no algorithm and are launched as a group") {
  const OneJob job(nvlink_cluster(2, 2), 8);
  const CollectiveCosts& costs = job.communicator.costs();
  for (const CollectiveOp op :
       {CollectiveOp::alltoall, CollectiveOp::sendrecv, CollectiveOp::gather, CollectiveOp::scatter}) {
    const CollectivePlan plan = job.plan(op, 1 << 20);
    CHECK_FALSE(plan.algorithm);
    CHECK(plan.algorithm_name() == "Peers");
    CHECK(plan.launch == costs.group_launch);
  }
  const CollectivePlan plan = job.plan(CollectiveOp::all_gather, 1 << 20);
  CHECK(plan.algorithm_name() == "Ring");
  CHECK(plan.launch == costs.launch);
}

TEST_CASE("one process launches the kernels of all its GPUs one after the other") {
  CollectiveSettings settings;
  for (const auto& [processes, kernels] : {std::pair{0, 1}, {1, 4}, {2, 2}, {4, 1}, {3, 2}}) {
    settings.processes_per_node = processes;
    const OneJob job(nvlink_cluster(2, 2), 8, settings);
    CHECK(job.plan(CollectiveOp::all_reduce, 8).launch == kernels * job.communicator.costs().launch);
  }
}

TEST_CASE("back to back, a small collective takes as long as its launches") {
  CollectivePlan plan;
  plan.launch = microseconds(20), plan.alone = microseconds(8);
  CHECK(plan.back_to_back() == microseconds(20));
  plan.alone = microseconds(80);
  CHECK(plan.back_to_back() == microseconds(80));
}

TEST_CASE("back to back, chains follow each other without waiting for the last rank") {
  CollectivePlan plan;
  plan.algorithm = AlgorithmId::ring;
  plan.alone = microseconds(80), plan.timing.steps = microseconds(30);
  CHECK(plan.back_to_back() == microseconds(80));  // all_reduce: the next one needs everybody
  for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce}) {
    plan.op = op;
    CHECK(plan.back_to_back() == microseconds(50));
  }
}

TEST_CASE("a plan says why, if asked") {
  const OneJob job(nvlink_cluster(1, 2), 4);
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 1 << 20);
  CHECK_THAT(plan.why, ContainsSubstring("next "));
  CHECK_THAT(plan.why, ContainsSubstring("channels"));
  CHECK(job.communicator.plan(CollectiveOp::all_reduce, {1 << 20}, false).why.empty());
}

TEST_CASE("the narrow place of single-GPU nodes is a NIC") {
  const OneJob job(star_cluster(4, {5e9}), 4, forced(AlgorithmId::ring, Protocol::simple));
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 1 << 30);
  REQUIRE(plan.bottleneck.link != kNone);
  CHECK(job.cluster.links()[plan.bottleneck.link].kind == LinkKind::network);
  CHECK(plan.bottleneck.seconds_per_byte == Approx(1 / 5e9));  // a byte of an edge
}

TEST_CASE("equal paths of several channels are one flow") {
  ClusterSpec spec = nvswitch_node();
  const OneJob job(spec, 8, forced(AlgorithmId::ring, Protocol::simple));
  REQUIRE(job.communicator.job().search_channels > 1);
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 1LL << 32);
  const std::vector<PatternFlow> flows = job.communicator.flows(plan);
  CHECK(flows.size() == 8);
  // 2(n-1)/n bytes per edge at 84 % of the link's rate; more only as far as the thread blocks are slower
  for (const PatternFlow& flow : flows) CHECK(flow.weight == Approx(2 * 7.0 / 8 / 0.84 * plan.stretch));
}

TEST_CASE("a broadcast leaves the edge into rank 0 idle, a reduce the one out of it") {
  const OneJob job(nvlink_cluster(1, 2), 4);
  const auto touches = [&](CollectiveOp op, bool into) {
    return std::ranges::any_of(job.communicator.flows(job.plan(op, 1 << 20)), [&](const PatternFlow& flow) {
      const VertexId end =
          into ? job.cluster.links()[flow.route.back()].to : job.cluster.links()[flow.route.front()].from;
      return flow.route.size() == 1 && end == job.cluster.gpu(0, 0);
    });
  };
  CHECK_FALSE(touches(CollectiveOp::broadcast, true));
  CHECK(touches(CollectiveOp::broadcast, false));
  CHECK(touches(CollectiveOp::reduce, true));
  CHECK_FALSE(touches(CollectiveOp::reduce, false));
}

TEST_CASE("LL moves at least twice the bytes of Simple") {
  const auto moved = [](Protocol protocol) {
    const OneJob job(nvlink_cluster(2, 2), 8, forced(AlgorithmId::ring, protocol));
    const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 1 << 30);
    return total_weight(job.communicator.flows(plan)) / plan.stretch;
  };
  CHECK(moved(Protocol::ll) >= 2 * moved(Protocol::simple));
}

TEST_CASE("bytes on the wire are data over what route and protocol reach") {
  const OneJob job(nvlink_cluster(2, 2), 8);
  const CollectiveCosts& costs = job.communicator.costs();
  const Cluster& cluster = job.cluster;
  const Route inside = cluster.route(cluster.gpu(0, 0), cluster.gpu(0, 1)),
              between = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(1, 0), 0);
  CollectivePlan plan;
  plan.algorithm = AlgorithmId::ring;
  const auto wire = [&](Protocol protocol, const Route& route) {
    plan.protocol = protocol;
    return job.communicator.wire_bytes(plan, route);
  };
  for (const Protocol protocol : kProtocols)
    CHECK(wire(protocol, inside) == Approx(1 / (0.90 * of(costs.link_efficiency, protocol))));
  CHECK(wire(Protocol::simple, between) == Approx(1 / of(costs.network_efficiency, Protocol::simple)));
  // LL: whichever is less, its share of 12.3 GB/s or what a CPU thread can check
  const double ll =
      std::min(12.3e9 * of(costs.network_efficiency, Protocol::ll), costs.low_latency_network.per_second);
  CHECK(wire(Protocol::ll, between) == Approx(12.3e9 / ll));
  plan.algorithm.reset();  // sends to many peers
  CHECK(wire(Protocol::simple, between) ==
        Approx(1 / (of(costs.network_efficiency, Protocol::simple) * costs.peer_network_efficiency)));
}

TEST_CASE("rings over NVLink know it") {
  CHECK(OneJob(nvlink_cluster(2, 2), 8).communicator.nvlink());
  CHECK(OneJob(nvswitch_node(), 8).communicator.nvlink());
  CHECK_FALSE(OneJob(pcie_cluster(1, 4), 4).communicator.nvlink());
}

TEST_CASE("messages of 0 and of 2^60 bytes have times") {
  for (const ClusterSpec& spec :
       {nvlink_cluster(2, 2), pcie_cluster(2, 2), star_cluster(2, {1}), nvswitch_node()}) {
    const OneJob job(spec, spec.nodes * spec.node.gpus);
    for (const CollectiveOp op : kCollectiveOps) {
      const CollectivePlan none = job.plan(op, 0), huge = job.plan(op, std::int64_t{1} << 60);
      CHECK(none.timing.data == Time::zero());
      CHECK(none.alone >= job.communicator.costs().kernel);
      CHECK(huge.alone > none.alone);
    }
  }
}

TEST_CASE("huge messages saturate instead of overflowing") {
  const OneJob job(star_cluster(2, {1}), 2);
  CHECK(job.plan(CollectiveOp::all_reduce, std::numeric_limits<std::int64_t>::max()).alone >= kLongestTime);
}

TEST_CASE("LL between nodes takes as long as its NIC lets it, however fast the network is") {
  // A ring of two nodes: 64 KiB at 2.3 GB/s, once; before, 1000 PB/s took 7 million times as long.
  for (const double network : {12.3e9, 1e15, 1e18}) {
    ClusterSpec spec = pcie_cluster(2, 1);
    spec.fabric.link.bandwidth = {network}, spec.fabric.link.nccl_bandwidth = {12.5e9};
    const OneJob job(spec, 2, forced(nccl::Algorithm::ring, Protocol::ll));
    const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 64 << 10);
    CHECK(to_seconds(plan.timing.data) == Approx((64 << 10) / 2.3e9));
    CHECK(to_seconds(simulate(job.communicator, plan, Fidelity::flow)) == Approx(to_seconds(plan.alone)));
  }
}

}  // namespace communicator_test
