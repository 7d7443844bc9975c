// Collectives over transports on small machines: closed forms by hand, and the three fidelities against each
// other.
#include "sim/collective/transport_run.hpp"

#include <algorithm>

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace transport_run_test {

using namespace foretrain;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

Transport library(std::string name) {
  Transport transport;
  transport.library = std::move(name);
  return transport;
}

/// A job on `gpus` packed GPUs.
struct Machine {
  Machine(const ClusterSpec& spec, int gpus, Transport with)
      : placement(place_packed(gpus, spec.node.gpus)),
        cluster(Cluster::build(spec, placement.nodes)),
        transport(std::move(with)) {}
  TransportRun run(CollectiveOp op, Bytes size, std::string_view family = {},
                   Fidelity fidelity = Fidelity::analytic) const {
    return TransportRequest(cluster, placement, transport).run(op, size, family, fidelity);
  }
  Placement placement;
  Cluster cluster;
  Transport transport;
};

std::string refusal(const Machine& machine, CollectiveOp op, std::string_view family) {
  try {
    machine.run(op, {kMiB}, family);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// How far flow and chunk are from the closed form, at most.
double spread(const Machine& machine, CollectiveOp op, Bytes size, std::string_view family) {
  const double alone = to_seconds(machine.run(op, size, family).time);
  double worst = 0;
  for (const Fidelity fidelity : {Fidelity::flow, Fidelity::chunk})
    worst = std::max(worst, std::abs(to_seconds(machine.run(op, size, family, fidelity).time) / alone - 1));
  return worst;
}

}  // namespace

TEST_CASE("a plain ring takes 2(n-1) steps of one latency and one part each, at every fidelity") {
  const Machine machine(test::star_cluster(8, {12.5e9}), 8, library("plain"));
  // GPU to CPU to NIC to switch and down again: 4 hops of 1 us over PCIe, 2 of 0.6 us over the network, 0.3
  // us in the switch.
  const Time step = microseconds(5.5) + seconds(1048576.0 / 12.5e9);
  for (const Fidelity fidelity : kFidelities) {
    INFO(name_of(fidelity));
    const TransportRun run = machine.run(CollectiveOp::all_reduce, {8 * kMiB}, "ring", fidelity);
    CHECK(to_seconds(run.time) == Approx(to_seconds(14 * step)).epsilon(1e-6));
    CHECK(machine.cluster.links()[run.bottleneck].kind == LinkKind::network);
  }
}

TEST_CASE("on an idle star the three fidelities of a ring are within 2 percent for every library") {
  Transport slow = library("gloo");
  slow.message_overhead = microseconds(15), slow.add_rate = {5e9}, slow.stream_rate = {3e9},
  slow.segments = 2, slow.segment = {kMiB};
  Transport mpi = library("open_mpi");
  mpi.message_overhead = microseconds(1), mpi.eager_limit = {12'288},
  mpi.rendezvous_overhead = microseconds(1), mpi.eager_copy_rate = {5e9};
  for (const Transport& transport : {library("plain"), slow, mpi, library("grpc_ring")}) {
    const Machine machine(test::star_cluster(8, {12.5e9}), 8, transport);
    for (const std::int64_t size : {std::int64_t{4096}, kMiB, 256 * kMiB}) {
      for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather}) {
        INFO(transport.library << ' ' << name_of(op) << ' ' << size);
        CHECK(spread(machine, op, {size}, "ring") < 0.02);
      }
    }
  }
}

TEST_CASE("plain families with equal messages are within 2 percent of their closed forms") {
  const Machine machine(test::star_cluster(8, {12.5e9}), 8, library("plain"));
  using O = CollectiveOp;
  for (const auto& [op, family] : {std::pair{O::all_reduce, "recursive_doubling"},
                                   {O::broadcast, "binomial"},
                                   {O::gather, "direct"},
                                   {O::alltoall, "pairwise"},
                                   {O::sendrecv, "shift"},
                                   {O::reduce, "binomial"}}) {
    INFO(family);
    CHECK(spread(machine, op, {4 * kMiB}, family) < 0.02);
  }
}

TEST_CASE("the slowest edge sets the pace of a plain ring through nodes") {
  const Machine machine(test::nvlink_cluster(2, 1), 8, library("plain"));
  const double data =
      1.75 * 256.0 * kMiB / 12.3e9;  // over the NIC of each node; NVLink is four times as fast
  CHECK(to_seconds(machine.run(CollectiveOp::all_reduce, {256 * kMiB}, "ring").time) ==
        Approx(data).epsilon(0.02));
  CHECK(spread(machine, CollectiveOp::all_reduce, {256 * kMiB}, "ring") < 0.02);
}

TEST_CASE("ranks of a node share the NIC when all send through it") {
  const Machine machine(test::nvlink_cluster(2, 1), 8, library("plain"));
  // Every rank sends an eighth to each of the four on the other node: 4 x 4 / 8 of the size out of each NIC.
  const TransportRun run = machine.run(CollectiveOp::alltoall, {64 * kMiB});
  CHECK(to_seconds(run.time) == Approx(2 * 64.0 * kMiB / 12.3e9).epsilon(0.02));
}

TEST_CASE("processes on hosts do not touch the GPUs' links") {
  const Machine machine(test::pcie_cluster(2, 4), 8, library("gloo"));
  const TransportRoute way =
      TransportRoutes(machine.cluster, machine.placement, DataPlace::host_memory).way(3, 4);
  for (const LinkId id : way.links) {
    const ClusterLink link = machine.cluster.links()[id];
    CHECK(machine.cluster.vertices()[link.from].kind != VertexKind::gpu);
    CHECK(machine.cluster.vertices()[link.to].kind != VertexKind::gpu);
  }
  CHECK(way.latency == microseconds(1 + 0.6 + 0.3 + 0.6 + 1));  // CPU to NIC, network, NIC to CPU
  CHECK(TransportRoutes(machine.cluster, machine.placement, DataPlace::host_memory).way(0, 1).narrowest ==
        kNone);
}

TEST_CASE("what cannot run is refused with the reason") {
  const Machine machine(test::star_cluster(6, {12.5e9}), 6, library("plain"));
  CHECK(refusal(machine, CollectiveOp::all_reduce, "rign") ==
        "error: unknown algorithm \"rign\" for all_reduce\n  hint: did you mean \"ring\"?\n");
  CHECK_THAT(refusal(machine, CollectiveOp::all_reduce, "nvls"), ContainsSubstring("only NCCL uses"));
  CHECK_THAT(refusal(machine, CollectiveOp::alltoall, "ring"), ContainsSubstring("unknown algorithm"));
}

TEST_CASE("one rank sends nothing over a transport, and an operation that a library has not got says so") {
  const TransportRun alone =
      Machine(test::star_cluster(1, {1e9}), 1, library("plain")).run(CollectiveOp::all_reduce, {kMiB});
  CHECK(alone.time == Time::zero());
  const TransportRun none =
      Machine(test::star_cluster(2, {1e9}), 2, library("grpc_ring")).run(CollectiveOp::alltoall, {kMiB});
  CHECK(!none.plan.choice.family);
  CHECK_THAT(none.plan.choice.why, ContainsSubstring("TensorFlow has no alltoall"));
}

TEST_CASE("huge sizes over a transport are defined") {
  const Machine machine(test::star_cluster(4, {12.5e9}), 4, library("plain"));
  for (const Fidelity fidelity : kFidelities) {
    const TransportRun run = machine.run(CollectiveOp::all_reduce, {std::int64_t{1} << 50}, "ring", fidelity);
    CHECK(to_seconds(run.time) == Approx(1.5 * 1125899906842624.0 / 12.5e9).epsilon(1e-3));
  }
}

TEST_CASE("a collective as a task takes on an idle machine what the closed form says") {
  const Machine machine(test::star_cluster(4, {1.25e9}), 4, gloo_over_tcp());
  TransportRequest job(machine.cluster, machine.placement, machine.transport);
  for (const std::int64_t bytes : {std::int64_t{1}, kMiB, 64 * kMiB}) {
    const TransportTraffic traffic = job.traffic(CollectiveOp::all_reduce, {bytes});
    REQUIRE(traffic.flows.size() == 4);  // each rank to the next
    // A ring sends 3/2 of the data over each link; 3 % more is lost on the wire.
    for (const PatternFlow& flow : traffic.flows) CHECK(flow.weight == Approx(1.5 / 0.97));
    double slowest = 1e18;
    for (const LinkId link : traffic.flows[0].route)
      slowest = std::min(slowest, machine.cluster.links()[link].bandwidth.per_second);
    const double whole = to_seconds(traffic.before) + static_cast<double>(bytes) * 1.5 / 0.97 / slowest;
    CHECK(whole == Approx(to_seconds(machine.run(CollectiveOp::all_reduce, {bytes}).time)));
  }
}

TEST_CASE("a connection that carries less than its link keeps others from it: the flow is stretched") {
  const Machine machine(test::star_cluster(4, {12.5e9}), 4, gloo_over_tcp());
  const TransportTraffic traffic = TransportRequest(machine.cluster, machine.placement, machine.transport)
                                       .traffic(CollectiveOp::all_reduce, {kMiB});
  double slowest = 1e18;
  for (const LinkId link : traffic.flows[0].route)
    slowest = std::min(slowest, machine.cluster.links()[link].bandwidth.per_second);
  CHECK(traffic.flows[0].weight / slowest == Approx(1.5 / 3e9));  // 3 GB/s a connection
}

TEST_CASE("processes on one CPU exchange without links, and one process with nobody") {
  const Machine machine(test::pcie_cluster(1, 4), 2, gloo_over_tcp());
  TransportRequest job(machine.cluster, machine.placement, machine.transport);
  const TransportTraffic traffic = job.traffic(CollectiveOp::all_reduce, {kMiB});
  if (traffic.flows.empty()) CHECK(traffic.before == machine.run(CollectiveOp::all_reduce, {kMiB}).time);
  const Machine alone(test::pcie_cluster(1, 4), 1, gloo_over_tcp());
  const TransportTraffic none = TransportRequest(alone.cluster, alone.placement, alone.transport)
                                    .traffic(CollectiveOp::all_reduce, {kMiB});
  CHECK(none.before == Time::zero());
  CHECK(none.flows.empty());
}

}  // namespace transport_run_test
