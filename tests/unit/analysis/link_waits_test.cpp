// Which link a step waits for, on graphs written by hand.
#include "sim/analysis/step/link_waits.hpp"

#include <algorithm>
#include <numeric>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/cluster/fabrics/fat_tree.hpp"
#include "sim/engine/executor.hpp"
#include "sim/engine/network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_graph.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace link_waits_test {

using namespace foretrain;
using test::us;

namespace {

LinkId link_of(const Cluster& cluster, LinkKind kind) {
  for (LinkId link = 0; link < cluster.links().size(); ++link)
    if (cluster.links()[link].kind == kind) return link;
  return kNone;
}

/// A kernel, then a message over the links, then a kernel that waits for it.
LinkWaits waits_for(const Cluster& cluster, std::vector<PatternFlow> flows, Bytes size) {
  Plan plan;
  TaskGraph& graph = plan.graph;
  const QueueId stream = graph.add_queue("stream"), nccl = graph.add_queue("nccl");
  const TaskId first = graph.add(test::kernel_task(stream, 5 * us));
  Task message = test::host_task(nccl, 10 * us);
  message.kind = TaskKind::collective,
  message.account = static_cast<std::uint8_t>(Account::exposed_communication);
  if (!flows.empty()) message.pattern = graph.add_pattern(std::move(flows)), message.traffic = size;
  const TaskId sent = graph.add(message, {{first}});
  const TaskId last = graph.add(test::kernel_task(stream, 5 * us), {{sent}});
  const Timeline timeline = run(graph, *make_max_min_network(cluster.capacities()));
  return link_waits(graph, queue_path(graph, timeline, stream, timeline.end_of(first), timeline.end_of(last)),
                    cluster, 1);
}

std::size_t place_of(LinkKind kind) { return static_cast<std::size_t>(kind); }

}  // namespace

TEST_CASE("a message counts with its slowest link, latency and all") {
  const Cluster cluster = Cluster::build(test::nvlink_cluster(2, 1), 2);
  const LinkId nvlink = link_of(cluster, LinkKind::nvlink), network = link_of(cluster, LinkKind::network);
  const double rate = cluster.links()[network].bandwidth.per_second;
  // 10 us of latency, then a millisecond's worth of bytes on the network.
  const LinkWaits waits =
      waits_for(cluster, {{{nvlink, network}, 1}}, {static_cast<std::int64_t>(rate * 1e-3)});
  CHECK(waits[place_of(LinkKind::network)] == Approx(1010e-6).epsilon(1e-3));
  CHECK(waits[place_of(LinkKind::nvlink)] == 0);
}

TEST_CASE("the slowest link is the one with most bytes for its speed") {
  const Cluster cluster = Cluster::build(test::nvlink_cluster(2, 1), 2);
  const LinkId nvlink = link_of(cluster, LinkKind::nvlink), network = link_of(cluster, LinkKind::network);
  const LinkWaits waits = waits_for(cluster, {{{nvlink}, 100}, {{network}, 1}}, {1'000'000});
  CHECK(waits[place_of(LinkKind::nvlink)] > 0);
  CHECK(waits[place_of(LinkKind::network)] == 0);
}

TEST_CASE("what other jobs send over the slowest link is told apart") {
  ClusterSpec spec = test::nvlink_cluster(2, 1);
  spec.fabric.kind = "fat_tree";
  spec.fabric.edit<FatTree>() = {.nodes_per_leaf = 1, .uplinks_per_leaf = 1};
  const Cluster cluster = Cluster::build(spec, 2);
  const Route route = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(1, 0), 0);
  const auto uplink = std::ranges::find_if(
      route.links, [&](LinkId id) { return cluster.vertices()[cluster.links()[id].from].node < 0; });
  REQUIRE(uplink != route.links.end());
  const LinkWaits waits = waits_for(cluster, {{route.links, 3}, {{*uplink}, 1}}, {100'000'000});
  CHECK(waits[kBackgroundWait] == Approx((waits[kBackgroundWait] + waits[place_of(LinkKind::network)]) / 4));
  CHECK(name_of_wait(kBackgroundWait, spec) == "other jobs on the network between switches");
}

TEST_CASE("messages without a link are coordination") {
  const Cluster cluster = Cluster::build(test::nvlink_cluster(2, 1), 2);
  const LinkWaits waits = waits_for(cluster, {}, {});
  CHECK(waits[kWaitKinds - 1] == Approx(10e-6));
  CHECK(name_of_wait(kWaitKinds - 1, cluster.spec()) == "coordination between ranks");
}

TEST_CASE("waits by link sum to the exposed communication of a step") {
  const Scenario scenario = test::resnet_scenario({1, 8});
  const StepSimulator simulator(scenario, 8);
  for (const int gpus : {1, 4, 8}) {
    const SimulatedStep step = simulator.simulate(gpus, default_device_model(scenario));
    CHECK(std::accumulate(step.waits.begin(), step.waits.end(), 0.0) ==
          Approx(step.breakdown[static_cast<std::size_t>(Account::exposed_communication)]).margin(1e-12));
  }
}

TEST_CASE("links are called as the cluster calls them") {
  ClusterSpec spec = test::nvlink_cluster(2, 1);
  CHECK(name_of_wait(place_of(LinkKind::nvlink), spec) == "exposed communication over NVLink (nvlink2)");
  spec.fabric.link.name.clear();
  CHECK(name_of_link(place_of(LinkKind::network), spec) == "the network");
  CHECK(link_speed(LinkKind::nvlink, spec).per_second == test::nvlink2().bandwidth.per_second);
}

}  // namespace link_waits_test
