// What a communicator plans: algorithm, protocol, latency, launch, flows.
#include "sim/collective/communicator.hpp"

#include <algorithm>

#include "sim/collective/communicator_traffic.hpp"
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

TEST_CASE("ranks' parts that do not begin at 16 bytes are copied element by element, at half the rate") {
  CollectiveSettings settings = forced(AlgorithmId::ring, Protocol::simple);
  settings.nccl.version = {2, 4, 99};  // with channels enough for the links, and no more
  const OneJob job(nvlink_cluster(1, 2), 4, settings);
  const auto blocks_bound = [&](std::int64_t part) {
    return job.plan(CollectiveOp::all_gather, 4 * part).timing;
  };
  const std::int64_t part = 48 << 20;
  const CollectiveTiming aligned = blocks_bound(part), odd = blocks_bound(part + 4);
  CHECK(odd.data >= aligned.data);
  CHECK(odd.channel_bound);
  // As much as the blocks' own time at half their rate.
  const double edge = 3.0 * static_cast<double>(part);
  const double rate = of(job.communicator.costs().channel_rate, Protocol::simple).per_second;
  const int channels = job.plan(CollectiveOp::all_gather, 4 * part).channels;
  CHECK(to_seconds(odd.data) == Approx(2 * edge / (channels * rate)).epsilon(0.1));
  CHECK(job.plan(CollectiveOp::all_reduce, 4 * (part + 4)).timing.data <
        job.plan(CollectiveOp::all_reduce, 4 * (part + 16)).timing.data);
}

TEST_CASE("lines of LL hold what they hold, wherever a rank's part begins") {
  CollectiveSettings settings = forced(AlgorithmId::ring, Protocol::ll);
  settings.nccl.version = {2, 4, 99};
  const OneJob job(nvlink_cluster(1, 2), 4, settings);
  const std::int64_t part = 48 << 20;
  const Time odd = job.plan(CollectiveOp::all_gather, 4 * (part + 4)).timing.data;
  CHECK(odd < job.plan(CollectiveOp::all_gather, 4 * (part + 16)).timing.data);
}

TEST_CASE("one thread of a rank serves its TCP sockets, unless the link's connections have threads") {
  ClusterSpec spec = nvlink_cluster(2, 1);
  spec.fabric.link = link_type("eth_100_tcp", LinkKind::network, 11.7, 20);
  CollectiveSettings settings = forced(AlgorithmId::ring, Protocol::simple);
  const auto data = [&](int flows, int threads, nccl::Version version) {
    spec.fabric.link.flows = flows, spec.fabric.link.flow_threads = threads;
    settings.nccl.version = version;
    return to_seconds(OneJob(spec, 8, settings).plan(CollectiveOp::all_reduce, 1 << 30).timing.data);
  };
  const nccl::Version now{2, 20, 5}, early{2, 4, 2}, earliest{2, 3, 7};
  const double wire = data(0, 0, now), thread = 1.75 * (1 << 30) / 2.6e9;
  CHECK(data(1, 0, now) == Approx(thread));
  CHECK(data(16, 2, now) == Approx(wire));
  CHECK(data(16, 2, early) == Approx(thread));  // threads came with 2.4.8
  // Before 2.4 every channel has a thread of its own; this job has one channel.
  CHECK(data(16, 2, earliest) == Approx(thread));
  spec.fabric.link.flow_bandwidth = {0.5e9};
  CHECK(data(16, 2, early) > 1.9 * thread);  // of one connection a channel, not of sixteen
  CHECK(data(16, 2, now) == Approx(wire));
}

TEST_CASE("a GPU that writes to host memory while it reads from there has one limit for both ways") {
  const auto data = [](CollectiveOp op, int gpus, double share) {
    ClusterSpec spec = pcie_cluster(1, gpus);
    spec.node.peer_access = false, spec.node.gpu.staging_share = share;
    const OneJob job(spec, gpus, forced(AlgorithmId::ring, Protocol::simple));
    return to_seconds(job.plan(op, 1 << 28).timing.data);
  };
  const auto ratio = [&](CollectiveOp op, int gpus) { return data(op, gpus, 0.64) / data(op, gpus, 0.48); };
  // 0.48 of the link each way is the 0.96 of both: all seven steps of four GPUs take as long. With 0.64 five
  // of them do; the first, in which nobody receives, and the last are faster.
  CHECK(ratio(CollectiveOp::all_reduce, 4) == Approx((5 + 2 * 0.48 / 0.64) / 7));
  CHECK(ratio(CollectiveOp::all_gather, 2) == Approx(0.48 / 0.64));  // written, then read
  CHECK(ratio(CollectiveOp::broadcast, 2) == Approx(0.48 / 0.64));
}

TEST_CASE("before 2.10 a launch takes longer with every channel") {
  CollectiveSettings old = forced(AlgorithmId::ring, Protocol::simple), now = old;
  old.nccl.version = {2, 9, 9}, now.nccl.version = {2, 10, 3};
  const OneJob before(nvlink_cluster(1, 2), 4, old), after(nvlink_cluster(1, 2), 4, now);
  const CollectiveCosts& costs = before.communicator.costs();
  const CollectivePlan large = before.plan(CollectiveOp::all_reduce, 1 << 30);
  REQUIRE(large.channels > 1);
  CHECK(large.launch == costs.launch + (large.channels - 1) * costs.channel_enqueue);
  CHECK(before.plan(CollectiveOp::all_reduce, 64).launch == costs.launch);
  CHECK(after.plan(CollectiveOp::all_reduce, 1 << 30).launch == costs.launch);
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

TEST_CASE(
    "sends and receives have no algorithm and are launched as a group, longer for every peer over the "
    "network") {
  const OneJob job(nvlink_cluster(2, 2), 8);
  const CollectiveCosts& costs = job.communicator.costs();
  // of seven peers four are on the other node; the next rank of the last one is, too
  for (const auto& [op, remote] : {std::pair{CollectiveOp::alltoall, 4},
                                   {CollectiveOp::sendrecv, 1},
                                   {CollectiveOp::gather, 4},
                                   {CollectiveOp::scatter, 4}}) {
    const CollectivePlan plan = job.plan(op, 1 << 20);
    CHECK_FALSE(plan.algorithm);
    CHECK(plan.algorithm_name() == "Peers");
    CHECK(plan.launch == costs.group_launch + remote * costs.peer_enqueue);
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

TEST_CASE("threads of a process launch at the same time") {
  CollectiveSettings settings;
  settings.processes_per_node = 1;
  for (const auto& [threads, kernels] : {std::pair{1, 4}, {2, 2}, {4, 1}, {8, 1}}) {
    settings.threads_per_process = threads;
    const OneJob job(nvlink_cluster(2, 2), 8, settings);
    CHECK(job.plan(CollectiveOp::all_reduce, 8).launch == kernels * job.communicator.costs().launch);
  }
}

TEST_CASE("back to back, a small collective takes as long as its launches, and by itself as both") {
  CollectivePlan plan;
  plan.launch = microseconds(20), plan.alone = microseconds(8);
  CHECK(plan.back_to_back() == microseconds(20));
  CHECK(plan.single() == microseconds(28));
  plan.alone = microseconds(80);
  CHECK(plan.back_to_back() == microseconds(80));
  plan.hidden = microseconds(30);
  CHECK(plan.back_to_back() == microseconds(50));
  CHECK(plan.single() == microseconds(100));
}

TEST_CASE("in a loop the way down a chain is seen once, by the timer that waits for the last rank") {
  CollectiveSettings settings = forced(AlgorithmId::ring, Protocol::simple);
  settings.processes_per_node = 1;
  for (const int iterations : {1, 5, 20}) {
    settings.iterations = iterations;
    const OneJob job(nvswitch_node(), 8, settings);
    for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce}) {
      const CollectivePlan plan = job.plan(op, 64 << 20);
      const Time way = plan.timing.steps + plan.timing.fill;
      CHECK(to_seconds(plan.occupied()) ==
            Approx(to_seconds(plan.alone) - to_seconds(way) * (1 - 1.0 / iterations)));
    }
    CHECK(job.plan(CollectiveOp::all_reduce, 64 << 20).hidden ==
          Time::zero());  // the next one needs everybody
  }
}

TEST_CASE("timers of several threads stop one after the other, and their mean is printed") {
  CollectiveSettings settings = forced(AlgorithmId::ring, Protocol::simple);
  settings.processes_per_node = 1, settings.threads_per_process = 8, settings.iterations = 5;
  const CollectivePlan plan = OneJob(nvswitch_node(), 8, settings).plan(CollectiveOp::broadcast, 64 << 20);
  const double way = to_seconds(plan.timing.steps + plan.timing.fill);
  // eight places along the chain: (1/8 + 2/8 + ... + 1) / 8 = 9/16 of the way, over five calls
  CHECK(to_seconds(plan.hidden) == Approx(way * (1 - 9.0 / 16 / 5)));
}

TEST_CASE("channels of different orders make a call wait for the one before") {
  CollectiveSettings settings = forced(AlgorithmId::ring, Protocol::simple);
  const OneJob job(cube_mesh_node(), 8, settings);
  const auto shown = [&](std::int64_t size) {
    const CollectivePlan plan = job.plan(CollectiveOp::broadcast, size);
    return 1 - to_seconds(plan.hidden) / to_seconds(plan.timing.steps + plan.timing.fill);
  };
  REQUIRE(job.plan(CollectiveOp::broadcast, 64).channels == 1);
  CHECK(shown(64) < 0.1);
  CHECK(shown(64 << 20) > 0.4);
}

TEST_CASE("in pods every rank is a node: no NVLink, one thread for its sockets, the machine's NIC for all") {
  CollectiveSettings pods;
  pods.nccl.isolation = nccl::Isolation::pod;
  const OneJob joined(nvlink_cluster(2, 2), 8), apart(nvlink_cluster(2, 2), 8, pods);
  CHECK(joined.communicator.nodes() == 2);
  CHECK(apart.communicator.nodes() == 8);
  const CollectivePlan plan = apart.plan(CollectiveOp::all_reduce, 64 << 20);
  CHECK(plan.alone > 5 * joined.plan(CollectiveOp::all_reduce, 64 << 20).alone);
  // 2 x 7/8 bytes per edge by a thread of 2.6 GB/s
  CHECK(to_seconds(plan.timing.data) >= 0.999 * (64 << 20) * 1.75 / 2.6e9);
  for (const PatternFlow& flow : apart.communicator.flows(plan)) {
    for (const LinkId link : flow.route) CHECK(apart.cluster.links()[link].kind != LinkKind::nvlink);
  }
}

TEST_CASE("pods of one machine meet before its wire") {
  CollectiveSettings pods;
  pods.nccl.isolation = nccl::Isolation::pod;
  const OneJob job(nvlink_cluster(2, 2), Placement{{{0, 0}, {0, 1}}, 1}, pods);
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 64 << 20);
  for (const PatternFlow& flow : job.communicator.flows(plan)) {
    for (const LinkId link : flow.route) CHECK(job.cluster.links()[link].kind != LinkKind::network);
  }
}

TEST_CASE("pods of a machine without a network adapter exchange by sockets, whatever the operation") {
  CollectiveSettings pods;
  pods.nccl.isolation = nccl::Isolation::pod;
  const OneJob job(cube_mesh_node(), 8, pods);
  REQUIRE(job.cluster.node_spec(0).nics == 0);
  for (const CollectiveOp op : kCollectiveOps) CHECK(job.plan(op, 1 << 10).alone > Time::zero());
}

TEST_CASE("containers are nodes without the limits of a pod's sockets") {
  CollectiveSettings pods, containers;
  pods.nccl.isolation = nccl::Isolation::pod, containers.nccl.isolation = nccl::Isolation::container;
  const auto time = [](const CollectiveSettings& settings) {
    return OneJob(nvlink_cluster(2, 2), 8, settings).plan(CollectiveOp::all_reduce, 64 << 20).alone;
  };
  CHECK(time(containers) < time(pods));
  CHECK(time(containers) > time({}));
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
  const double ll = std::min(12.3e9 * of(costs.network_efficiency, Protocol::ll),
                             low_latency_limit(costs, cluster.node_spec(0).host).per_second);
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
  // A ring of two nodes: 64 KiB at 2 GB/s, once; before, 1000 PB/s took 7 million times as long.
  for (const double network : {12.3e9, 1e15, 1e18}) {
    ClusterSpec spec = pcie_cluster(2, 1);
    spec.fabric.link.bandwidth = {network}, spec.fabric.link.nccl_bandwidth = {12.5e9};
    spec.node.host.slowdown = 2.2;
    const OneJob job(spec, 2, forced(nccl::Algorithm::ring, Protocol::ll));
    const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 64 << 10);
    CHECK(to_seconds(plan.timing.data) == Approx((64 << 10) / 2e9));
    CHECK(to_seconds(simulate(job.communicator, plan, Fidelity::flow)) == Approx(to_seconds(plan.alone)));
  }
}

TEST_CASE("a thread that is twice as fast checks twice as many lines of LL, but on Grace") {
  const auto rate = [](HostFamily family, double slowdown) {
    ClusterSpec spec = pcie_cluster(2, 1);
    spec.fabric.link.bandwidth = {48e9}, spec.node.host.family = family, spec.node.host.slowdown = slowdown;
    const OneJob job(spec, 2, forced(nccl::Algorithm::ring, Protocol::ll));
    return (64 << 10) / to_seconds(job.plan(CollectiveOp::all_reduce, 64 << 10).timing.data);
  };
  CHECK(rate(HostFamily::amd, 1.1) == Approx(4e9));
  CHECK(rate(HostFamily::intel_broadwell, 2.6) == Approx(2e9));  // no slower than where it was measured
  CHECK(rate(HostFamily::arm, 1.1) == Approx(2e9));
}

}  // namespace communicator_test
