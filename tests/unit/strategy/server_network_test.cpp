// Messages between workers and servers on idle links, against their closed forms.
#include "sim/strategy/servers/server_network.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace server_network_test {

using namespace foretrain;
using test::SmallPlan;

namespace {

constexpr Bytes kMessage{1'000'000};
constexpr double kNic = 1e9;
constexpr double kMessageS = 13.5e-6;  ///< 10 us of software (RDMA), two PCIe links of 1 us, two of 0.6 us
                                       /// < and a switch of 0.3 us between

/// Four nodes of one GPU, NICs of 1 GB/s, links carry 97 %.
struct Net {
  SmallPlan small;
  Placement placement;
  Cluster cluster;
  TaskGraph graph;
  PlanRequest request;
  Process process;
  ServerNetwork network;
  QueueId queue;

  explicit Net(int servers, std::vector<Shard> shards = {}, SmallPlan given = on_star(),
               ServerMachines machines = ServerMachines::of_workers)
      : small(std::move(given)),
        placement(place_packed(small.spec.nodes, 1)),
        cluster(Cluster::build(small.spec, small.spec.nodes)),
        request{small.workload, cluster, placement, small.knobs, small.device},
        process(request, graph),
        network(process, servers, shards, ps_lite_transport(small.spec.fabric.link), machines),
        queue(graph.add_queue("messages")) {}

  static SmallPlan on_star() {
    SmallPlan small;
    small.spec = test::star_cluster(4, {kNic});
    return small;
  }
  /// Servers on machines of their own.
  static Net apart(int servers, std::vector<Shard> shards = {}) {
    return Net(servers, std::move(shards), on_star(), ServerMachines::own);
  }
  double run_s() const {
    return to_seconds(run(graph, *make_max_min_network(cluster.capacities())).end_of(graph.last_on(queue)));
  }
  LabelId label() { return graph.label("message"); }
};

}  // namespace

TEST_CASE("the server's NIC takes the messages of all workers but its own") {
  Net net(1);
  net.network.push(net.queue, 0, kMessage, net.label(), {});
  CHECK(net.run_s() == Approx(kMessageS + 3 * 1e6 / (0.97 * kNic)).epsilon(1e-6));
}

TEST_CASE("what comes back takes as long") {
  Net net(1);
  net.network.pull(net.queue, 0, kMessage, net.label(), {});
  CHECK(net.run_s() == Approx(kMessageS + 3 * 1e6 / (0.97 * kNic)).epsilon(1e-6));
}

TEST_CASE("a tensor cut over all servers loads each with its part") {
  // Of four parts three leave every node, and every server takes a quarter from three others.
  Net net(4);
  net.network.push(net.queue, kEveryServer, kMessage, net.label(), {});
  CHECK(net.run_s() == Approx(kMessageS + 0.75 * 1e6 / (0.97 * kNic)).epsilon(1e-6));
}

TEST_CASE("messages to two servers share the first worker's NIC") {
  // Server 0 is on the first node, 1 and 2 are not: their messages leave it together, 2 x 1 MB, but 3 x 1 MB
  // arrive at each of them.
  Net net(3);
  const QueueId other = net.graph.add_queue("other");
  net.network.push(net.queue, 1, kMessage, net.label(), {});
  net.network.push(other, 2, kMessage, net.label(), {});
  CHECK(net.run_s() == Approx(kMessageS + 3 * 1e6 / (0.97 * kNic)).epsilon(1e-6));
}

TEST_CASE("the busiest server is on the first node") {
  const std::vector<Shard> shards{{0, 0, 10}, {1, 1, 10}, {2, 2, 1000}};
  Net net(3, shards);
  const TaskId sent = net.network.push(net.queue, 2, kMessage, net.label(), {});
  // Where the server is, one flow stands for all others; elsewhere the first worker's is a second one.
  CHECK(net.graph.pattern(net.graph.tasks()[sent].pattern).size() == 1);
  const TaskId elsewhere = net.network.push(net.queue, 0, kMessage, net.label(), {});
  CHECK(net.graph.pattern(net.graph.tasks()[elsewhere].pattern).size() == 2);
}

TEST_CASE("a connection over TCP carries no more than 3 GB per second, one message after the other") {
  SmallPlan fast = Net::on_star();
  fast.spec.fabric.link.bandwidth = {1e15};
  fast.spec.fabric.link.latency = microseconds(20);  // as TCP's
  for (NodeLink& link : fast.spec.node.links) link.type.bandwidth = {1e15};
  Net net(1, {}, fast);
  const QueueId other = net.graph.add_queue("other");
  net.network.push(other, 0, kMessage, net.label(), {});
  net.network.push(net.queue, 0, kMessage, net.label(), {});
  // 2 MB at 3 GB/s, then 50 us of software and two links of 20 us.
  CHECK(net.run_s() == Approx(2e6 / 3e9 + 50e-6 + 40e-6).epsilon(5e-3));
}

TEST_CASE("a server's CPU does one piece of work at a time on four cores") {
  Net net(2);
  const QueueId other = net.graph.add_queue("other");
  net.network.work(other, 0, {80'000'000}, net.label(), {});
  net.network.work(net.queue, 0, {80'000'000}, net.label(), {});
  // A core copies 10 GB/s: it reads and writes 20; four move 80.
  CHECK(host_sum_rate(net.small.spec.node.host).per_second == 80e9);
  CHECK(net.run_s() == Approx(2e-3).epsilon(1e-9));
}

TEST_CASE("a part on every server is a server's share of the work") {
  Net net(4);
  net.network.work(net.queue, kEveryServer, {80'000'000}, net.label(), {});
  CHECK(net.run_s() == Approx(0.25e-3).epsilon(1e-9));
}

TEST_CASE("the link between nodes decides between RDMA and TCP") {
  CHECK(ps_lite_transport(test::hdr100()).name == "ps-lite over RDMA");
  LinkType slow = test::hdr100();
  slow.latency = microseconds(15);  // EFA has no verbs either
  CHECK(ps_lite_transport(slow).name == "ps-lite over TCP");
}

TEST_CASE("the cost of a message does not grow with the nodes") {
  SmallPlan many = Net::on_star();
  many.spec.nodes = 64;
  Net net(1, {}, many);
  const TaskId sent = net.network.push(net.queue, 0, kMessage, net.label(), {});
  CHECK(net.graph.pattern(net.graph.tasks()[sent].pattern).size() == 1);
  CHECK(net.run_s() == Approx(kMessageS + 63 * 1e6 / (0.97 * kNic)).epsilon(1e-6));
}

TEST_CASE("the NIC of a server's own machine takes the messages of all four workers") {
  Net net = Net::apart(1);
  net.network.push(net.queue, 0, kMessage, net.label(), {});
  CHECK(net.run_s() == Approx(kMessageS + 4 * 1e6 / (0.97 * kNic)).epsilon(1e-6));
}

TEST_CASE("what a server's own machine sends back takes as long") {
  Net net = Net::apart(1);
  net.network.pull(net.queue, 0, kMessage, net.label(), {});
  CHECK(net.run_s() == Approx(kMessageS + 4 * 1e6 / (0.97 * kNic)).epsilon(1e-6));
}

TEST_CASE("a worker's NIC carries its own messages and none of a server's") {
  Net net = Net::apart(3);
  net.network.push(net.queue, 1, kMessage, net.label(), {});
  const Task& sent = net.graph.tasks()[net.graph.last_on(net.queue)];
  const auto& flows = net.graph.pattern(sent.pattern);
  REQUIRE(flows.size() == 2);
  CHECK(flows[0].weight == Approx(1 / 0.97));  // the worker's own
  CHECK(flows[1].weight == Approx(4 / 0.97));  // at the server
  for (const LinkId link : flows[0].route)
    CHECK(std::find(flows[1].route.begin(), flows[1].route.end(), link) == flows[1].route.end());
  // CPU to NIC to switch, and switch to NIC to CPU.
  CHECK(flows[0].route.size() == 2);
  CHECK(flows[1].route.size() == 2);
}

TEST_CASE("messages to servers on machines of their own do not share those machines' NICs") {
  Net net = Net::apart(2);
  const QueueId other = net.graph.add_queue("other");
  net.network.push(other, 0, kMessage, net.label(), {});
  net.network.push(net.queue, 1, kMessage, net.label(), {});
  CHECK(net.run_s() == Approx(kMessageS + 4 * 1e6 / (0.97 * kNic)).epsilon(1e-6));
}

TEST_CASE("a tensor cut over four machines leaves a worker whole and reaches each with a quarter of all") {
  Net net = Net::apart(4);
  net.network.push(net.queue, kEveryServer, kMessage, net.label(), {});
  // 1 MB out of the worker; four workers' quarters into every server.
  CHECK(net.run_s() == Approx(kMessageS + 1e6 / (0.97 * kNic)).epsilon(1e-6));
}

TEST_CASE("where two servers share a stand-in, the fuller of them takes as long as by itself") {
  // Four servers, three other nodes: servers 0 and 3 are on the first of these. All of server 0's bytes and
  // all of server 3's, at once.
  Net net = Net::apart(4, {{0, 0, 300'000}, {1, 1, 1}, {2, 2, 1}, {3, 3, 100'000}});
  const QueueId other = net.graph.add_queue("other");
  net.network.push(other, 3, {400'000}, net.label(), {});
  net.network.push(net.queue, 0, {1'200'000}, net.label(), {});
  CHECK(net.run_s() == Approx(kMessageS + 4 * 1.2e6 / (0.97 * kNic)).epsilon(1e-6));
}

TEST_CASE("two messages to one server queue at its NIC") {
  Net net = Net::apart(2);
  const QueueId other = net.graph.add_queue("other");
  net.network.push(other, 1, kMessage, net.label(), {});
  net.network.push(net.queue, 1, kMessage, net.label(), {});
  CHECK(net.run_s() == Approx(kMessageS + 2 * 4 * 1e6 / (0.97 * kNic)).epsilon(1e-6));
}

TEST_CASE(
    "ps-lite sends the messages of a connection in order, so that the first arrives when its own bytes "
    "have") {
  Net net = Net::apart(2);
  const QueueId other = net.graph.add_queue("other");
  const TaskId first = net.network.push(other, 1, kMessage, net.label(), {});
  const TaskId second = net.network.push(net.queue, 1, kMessage, net.label(), {});
  const Timeline timeline = run(net.graph, *make_max_min_network(net.cluster.capacities()));
  CHECK(to_seconds(timeline.end_of(first)) == Approx(kMessageS + 4 * 1e6 / (0.97 * kNic)).epsilon(1e-6));
  CHECK(to_seconds(timeline.end_of(second)) == Approx(kMessageS + 8 * 1e6 / (0.97 * kNic)).epsilon(1e-6));
}

TEST_CASE("gRPC cuts messages into frames that take turns, ps-lite does not") {
  CHECK_FALSE(grpc_server_transport().in_order);
  CHECK(ps_lite_transport(test::hdr100()).in_order);
}

}  // namespace server_network_test
