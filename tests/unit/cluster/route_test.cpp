// Routes over PCIe and sockets, and what a route makes of the numbers of its links.
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/node_layout.hpp"
#include "sim/cluster/routing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/route_text.hpp"
#include "tests/support/test_clusters.hpp"

namespace route_test {

using namespace foretrain;

namespace {

Cluster one_node(const ClusterSpec& spec) {
  REQUIRE(check(spec).empty());
  return Cluster::build(spec, 1);
}

}  // namespace

TEST_CASE("in a full mesh every GPU has a straight way to every other") {
  for (const ClusterSpec& spec :
       {test::nvlink_cluster(1, 1), test::mesh_node(8, test::a100(), test::nvlink3(), 2)}) {
    const Cluster cluster = one_node(spec);
    for (int a = 0; a < spec.node.gpus; ++a) {
      for (int b = 0; b < spec.node.gpus; ++b) {
        if (a == b) continue;
        const Route route = cluster.route(cluster.gpu(0, a), cluster.gpu(0, b));
        CHECK(test::route_text(cluster, route) == "gpu" + std::to_string(a) + " gpu" + std::to_string(b));
      }
    }
  }
}

TEST_CASE("GPUs behind one PCIe switch turn there") {
  const Cluster cluster = one_node(test::two_socket_node(2));
  const Route route = cluster.route(cluster.gpu(0, 0), cluster.gpu(0, 1));
  CHECK(test::route_text(cluster, route) == "gpu0 switch0 gpu1");
  CHECK(route.pcie_hops == 2);
  CHECK(route.latency == microseconds(2));
  CHECK(route.bandwidth.per_second == Approx(12.3e9));
}

TEST_CASE("GPUs of two sockets meet over both CPUs") {
  const Cluster cluster = one_node(test::two_socket_node(2));
  const Route route = cluster.route(cluster.gpu(0, 1), cluster.gpu(0, 2));
  CHECK(test::route_text(cluster, route) == "gpu1 switch0 cpu0 cpu1 switch1 gpu2");
  CHECK(route.pcie_hops == 5);                          // four of PCIe, one between the sockets
  CHECK(route.latency == microseconds(4.5));            // 4 * 1.0 + 0.5
  CHECK(route.bandwidth.per_second == Approx(12.3e9));  // PCIe, not the 17 of the socket link
}

TEST_CASE("a PCIe GPU without peer access stages in the memory of its own socket") {
  ClusterSpec spec = test::two_socket_node(2);
  spec.node.peer_access = false;
  const Cluster cluster = one_node(spec);
  const Route far = cluster.route(cluster.gpu(0, 3), cluster.gpu(0, 0));
  CHECK(test::route_text(cluster, far) == "gpu3 gpu3 switch1 cpu1 cpu0 switch0 gpu0 gpu0");
  CHECK(far.staged);
  // A staging link of gpu3 comes first and one of gpu0 last; the other way back takes their other ones, since
  // PCIe carries both directions at once.
  CHECK(far.bandwidth.per_second == Approx(12.3e9 * kRootComplexShare));
  const Route back = cluster.route(cluster.gpu(0, 0), cluster.gpu(0, 3));
  CHECK(far.links.front() != back.links.back());
  CHECK_FALSE(cluster.route(cluster.gpu(0, 0), cluster.cpu_of_gpu(0, 0)).staged);
}

TEST_CASE("peers that meet in a CPU get a share of PCIe's rate, those that meet in a switch all of it") {
  const Cluster cluster = one_node(test::two_socket_node(2));
  CHECK(cluster.route(cluster.gpu(0, 0), cluster.gpu(0, 1)).collective_efficiency == 1);
  CHECK(cluster.route(cluster.gpu(0, 1), cluster.gpu(0, 2)).collective_efficiency ==
        Approx(kRootComplexShare));
  CHECK(cluster.route(cluster.gpu(0, 0), cluster.cpu_of_gpu(0, 0)).collective_efficiency ==
        1);  // to memory, not through
}

TEST_CASE("a slow link beside a root complex keeps its own rate when that is less") {
  ClusterSpec spec = test::two_socket_node(1);
  for (NodeLink& link : spec.node.links) {
    if (link.type.kind == LinkKind::socket)
      link.type.bandwidth = {5e9}, link.type.collective_efficiency = 0.5;
  }
  const Cluster cluster = one_node(spec);
  const Route route = cluster.route(cluster.gpu(0, 0), cluster.gpu(0, 1));
  CHECK(route.bandwidth == ByteRate{5e9});
  CHECK(route.collective_efficiency == 0.5);  // less than kRootComplexShare
}

TEST_CASE("a route's efficiency is that of the link that lets the least through") {
  const auto link = [](double gigabytes, double efficiency) {
    return ClusterLink{0, 1, LinkKind::pcie, {gigabytes * 1e9}, efficiency, microseconds(1)};
  };
  // 20 * 0.5 = 10 is less than 12 * 0.9 = 10.8, though 12 is the smaller bandwidth.
  const std::vector<ClusterLink> links{link(20, 0.5), link(12, 0.9)};
  const Route route = make_route({0, 1}, links);
  CHECK(route.collective_efficiency == 0.5);
  CHECK(route.bandwidth.per_second == 12e9);
  CHECK(route.latency == microseconds(2));
}

TEST_CASE("a route without links takes no time") {
  const Route route = make_route({}, {});
  CHECK(route.links.empty());
  CHECK(route.latency == Time::zero());
  CHECK_FALSE(route.nvlink_only);
}

TEST_CASE("latencies at the upper limit do not overflow") {
  ClusterSpec spec = test::two_socket_node(1);
  for (NodeLink& link : spec.node.links) link.type.latency = std::chrono::seconds(1);
  const Cluster cluster = one_node(spec);
  CHECK(cluster.route(cluster.gpu(0, 0), cluster.gpu(0, 1)).latency == std::chrono::seconds(5));
}

}  // namespace route_test
