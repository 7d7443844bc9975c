// One collective at three fidelities: flows give what the closed form says, chunks what the flows say.
#include <algorithm>

#include "sim/cluster/fabrics/fat_tree.hpp"
#include "sim/collective/chunk_plan.hpp"
#include "sim/collective/fidelity.hpp"
#include "sim/engine/chunk_simulator.hpp"
#include "sim/engine/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fabric_examples.hpp"
#include "tests/support/one_job.hpp"

namespace fidelity_laws {

using namespace foretrain;
using namespace foretrain::test;

namespace {

using AlgorithmId = nccl::Algorithm;

struct Case {
  ClusterSpec spec;
  int gpus;
};

std::string text_of(const Case& one, const CollectivePlan& plan) {
  return one.spec.name + " " + std::to_string(one.gpus) + " GPUs, " + std::string(name_of(plan.op)) + " " +
         std::string(plan.algorithm_name()) + "/" + std::string(name_of(plan.protocol)) + " " +
         std::to_string(plan.size.count) + " bytes, " + std::to_string(plan.channels) + " channels";
}

std::vector<Case> idle_machines() {
  ClusterSpec staged = pcie_cluster(2, 4);
  staged.node.peer_access = false;
  std::vector<Case> all{{star_cluster(6, {12.5e9}), 6},
                        {star_cluster(32, {12.5e9}), 32},
                        {nvlink_cluster(1, 2), 2},
                        {nvlink_cluster(1, 2), 4},
                        {nvlink_cluster(4, 2), 16},
                        {nvlink_cluster(3, 1), 10},
                        {pcie_cluster(1, 4), 4},
                        {pcie_cluster(2, 4), 8},
                        {staged, 8},
                        {cube_mesh_node(), 8},
                        {nvswitch_node(), 8},
                        {two_socket_node(2), 4},
                        {h100_cluster(1), 8},
                        {h100_cluster(2), 16},
                        {h100_cluster(4), 32}};
  return all;
}

double seconds_of(const OneJob& job, const CollectivePlan& plan, Fidelity fidelity) {
  return to_seconds(simulate(job.communicator, plan, fidelity));
}

bool obeys(const CollectivePlan& plan, const CollectiveSettings& settings) {
  return plan.algorithm == settings.nccl.algorithm && plan.protocol == settings.nccl.protocol;
}

/// Machines where every hop of a ring is like every other and no two rings meet on a link.
std::vector<Case> even_rings() {
  return {{star_cluster(2, {12.5e9}), 2},
          {star_cluster(6, {12.5e9}), 6},
          {star_cluster(32, {2.5e9}), 32},
          {nvlink_cluster(1, 2), 2},
          {pcie_cluster(1, 4), 4},
          {cube_mesh_node(), 8},
          {nvswitch_node(), 8},
          {h100_cluster(1), 8}};
}

constexpr std::array kRingOps{CollectiveOp::all_reduce, CollectiveOp::all_gather,
                              CollectiveOp::reduce_scatter};
constexpr std::array kChainOps{CollectiveOp::broadcast, CollectiveOp::reduce};

/// Checks |chunk / flow - 1| <= bound from 4 KiB to 1 GiB.
void check_gaps(const Case& one, CollectiveOp op, AlgorithmId algorithm, Protocol protocol, double bound) {
  const CollectiveSettings settings = forced(algorithm, protocol);
  const OneJob job(one.spec, one.gpus, settings);
  for (std::int64_t size = 4 << 10; size <= 1 << 30; size *= 8) {
    const CollectivePlan plan = job.plan(op, size);
    if (!obeys(plan, settings)) continue;
    const double gap = seconds_of(job, plan, Fidelity::chunk) / seconds_of(job, plan, Fidelity::flow) - 1;
    INFO(text_of(one, plan));
    CHECK(gap == Approx(0).margin(bound));
  }
}

/// Both communicators' collectives at once, as flows.
Time flows_together(const Cluster& cluster, const CollectivePlan& plan, const Communicator& first,
                    const Communicator& second) {
  TaskGraph graph;
  std::vector<TaskId> tasks;
  for (const Communicator* communicator : {&first, &second}) {
    Task task;
    task.kind = TaskKind::collective;
    task.queue = graph.add_queue("NCCL stream");
    task.duration = plan.latency;
    task.pattern = graph.add_pattern(communicator->flows(plan));
    task.traffic = plan.size;
    tasks.push_back(graph.add(task));
  }
  const auto network = make_max_min_network(cluster.capacities());
  const Timeline timeline = run(graph, *network);
  return std::max(timeline.end_of(tasks[0]), timeline.end_of(tasks[1]));
}

/// The same at chunk level: the second one's ranks and thread blocks are numbered after the first one's.
Time chunks_together(const CollectivePlan& plan, const Communicator& first, const Communicator& second) {
  ChunkPlan both = chunk_plan(first, plan);
  const ChunkPlan other = chunk_plan(second, plan);
  const std::size_t links = first.cluster().links().size();
  const LinkId more = static_cast<LinkId>(both.capacities.size() - links);
  const std::uint32_t lanes = static_cast<std::uint32_t>(both.graph.connections.size()),
                      ranks = static_cast<std::uint32_t>(both.graph.ranks);
  both.capacities.insert(both.capacities.end(), other.capacities.begin() + static_cast<std::ptrdiff_t>(links),
                         other.capacities.end());
  for (std::uint32_t c = 0; c < other.graph.connections.size(); ++c) {
    Connection connection = other.graph.connections[c];
    connection.from += ranks, connection.to += ranks;
    std::vector<LinkId> route;
    for (const LinkId link : other.graph.route(c)) route.push_back(link < links ? link : link + more);
    std::vector<Need> needs;
    for (const Need& need : other.graph.needs_of(c)) needs.push_back({need.connection + lanes, need.lag});
    both.graph.add(connection, route, needs);
  }
  both.graph.ranks += other.graph.ranks;
  const ChunkResult result = simulate_chunks(both.graph, both.capacities);
  REQUIRE(result.problem.empty());
  return plan.timing.start + result.end + plan.timing.last;
}

/// Sends that leave over a relay or out of host memory share the sender's links with those that stay inside,
/// whose flows end first: what then limits the others idled before, so they end later than the fullest link
/// says.
bool unlike_ways(const OneJob& job, const CollectivePlan& plan) {
  if (plan.algorithm || job.communicator.nodes() < 2 || plan.op == CollectiveOp::sendrecv) return false;
  return job.communicator.send_relay() > Time::zero() || !job.communicator.nvlink();
}

/// The closed form, to `margin`; unlike ways up to 8 % longer.
void check_flows(const OneJob& job, const CollectivePlan& plan, double margin) {
  const double flows = seconds_of(job, plan, Fidelity::flow), closed = to_seconds(plan.alone);
  CHECK(flows >= closed - margin);
  CHECK(flows <= (unlike_ways(job, plan) ? 1.08 : 1) * closed + margin);
}

}  // namespace

TEST_CASE(
    "flows take what was measured: a calibrated collective is as long at flow level as in closed form") {
  for (Case one : {Case{nvlink_cluster(4, 2), 16}, Case{pcie_cluster(2, 4), 8}, Case{h100_cluster(2), 16}}) {
    for (const CollectiveOp op : kCollectiveOps)
      one.spec.calibration.collectives.push_back(
          {std::string(name_of(op)),
           one.gpus,
           one.spec.nodes,
           0,
           "",
           "",
           {{8, 1 << 20, 70e-6, 1 / 3e9, 0, 9}, {2 << 20, 1 << 28, 0, 1 / 9e9, 0, 7}}});
    const OneJob job(one.spec, one.gpus);
    for (const CollectiveOp op : kCollectiveOps) {
      for (std::int64_t size = 1 << 10; size <= 1 << 30; size *= 32) {
        const CollectivePlan plan = job.plan(op, size);
        INFO(text_of(one, plan));
        check_flows(job, plan, 1e-9 + 1e-3 * to_seconds(plan.alone));
      }
    }
  }
}

TEST_CASE("flow level takes the time of the closed form on an idle machine") {
  std::vector<Case> all = idle_machines();
  for (const ClusterSpec& spec : fabric_examples()) all.push_back({spec, std::min(4, spec.nodes) * 4});
  for (const Case& one : all) {
    const OneJob job(one.spec, one.gpus);
    for (const CollectiveOp op : kCollectiveOps) {
      for (std::int64_t size = 4 << 10; size <= std::int64_t{4} << 30; size *= 64) {
        const CollectivePlan plan = job.plan(op, size);
        INFO(text_of(one, plan));
        // Flows carry whole bytes: one byte at 12 GB/s takes 80 ps, and a link may carry a dozen flows.
        check_flows(job, plan, 2e-9 + 1e-6 * to_seconds(plan.alone));
      }
    }
  }
}

TEST_CASE(
    "rings of like hops take within 2 % of their flows at chunk level on an idle machine from 4 KiB up") {
  for (const Case& one : even_rings()) {
    for (const CollectiveOp op : kRingOps) {
      for (const Protocol protocol : kProtocols) check_gaps(one, op, AlgorithmId::ring, protocol, 0.02);
    }
  }
}

// Messages of two pieces are cut in halves at chunk level, in a whole piece and a rest by NCCL and the closed
// form: up to 25 %.
TEST_CASE(
    "chains of single-GPU nodes take within 2 % of their flows at chunk level, those in a node within 25 %") {
  for (const Case& one : even_rings()) {
    for (const CollectiveOp op : kChainOps) {
      for (const Protocol protocol : kProtocols)
        check_gaps(one, op, AlgorithmId::ring, protocol, one.spec.name == "star" ? 0.02 : 0.25);
    }
  }
}

TEST_CASE("NVLS takes within 10 % of its flows at chunk level on an idle machine from 4 KiB up") {
  check_gaps({h100_cluster(1), 8}, CollectiveOp::all_reduce, AlgorithmId::nvls, Protocol::simple, 0.10);
}

// Neither has a constant of its own for it: messages queue at a NIC in order, flows share it.
TEST_CASE("two rings over one NIC take within 10 % of their flows at chunk level") {
  ClusterSpec spec = pcie_cluster(2, 2);
  spec.fabric.link.bandwidth = {5e9};
  const Cluster cluster = Cluster::build(spec, 2);
  const CollectiveSettings settings = forced(AlgorithmId::ring, Protocol::simple);
  const Communicator first(cluster, {{{0, 0}, {1, 0}}, 2}, settings),
      second(cluster, {{{0, 1}, {1, 1}}, 2}, settings);
  for (std::int64_t size = 1 << 20; size <= 1 << 30; size *= 8) {
    const CollectivePlan plan = first.plan(CollectiveOp::all_reduce, {size});
    const double gap = to_seconds(chunks_together(plan, first, second)) /
                           to_seconds(flows_together(cluster, plan, first, second)) -
                       1;
    INFO(size << " bytes each");
    CHECK(gap == Approx(0).margin(0.10));
  }
}

// Below, where steps cost as much as their data, ranks out of step leave the uplink to each other, which
// flows do not see: 8 MiB -16 %.
TEST_CASE(
    "from 64 MiB up a ring over an oversubscribed spine takes within 10 % of its flows at chunk level") {
  ClusterSpec spec = star_cluster(16, {10e9});
  spec.fabric.kind = "fat_tree";
  spec.fabric.uplink = spec.fabric.link;
  FatTree& tree = spec.fabric.edit<FatTree>();
  tree.nodes_per_leaf = 4, tree.uplinks_per_leaf = 1;
  Placement across;  // every neighbour on another leaf
  across.nodes = 16;
  for (int i = 0; i < 16; ++i) across.ranks.push_back({(i % 4) * 4 + i / 4, 0});
  const OneJob job(spec, across, forced(AlgorithmId::ring, Protocol::simple));
  for (std::int64_t size = 64 << 20; size <= 1 << 30; size *= 2) {
    const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, size);
    REQUIRE(plan.bottleneck.seconds_per_byte == Approx(4 / 10e9));  // four edges of the ring over each uplink
    INFO(size << " bytes");
    CHECK(seconds_of(job, plan, Fidelity::chunk) / seconds_of(job, plan, Fidelity::flow) ==
          Approx(1).epsilon(0.10));
  }
}

}  // namespace fidelity_laws
