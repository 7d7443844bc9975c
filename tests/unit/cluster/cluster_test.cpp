// Cluster: many nodes from one, and the routes between them.
#include "sim/cluster/cluster.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/route_text.hpp"
#include "tests/support/test_clusters.hpp"

namespace cluster_test {

using namespace foretrain;

TEST_CASE("only the nodes in use are built") {
  const ClusterSpec spec = test::nvlink_cluster(10, 1);
  const Cluster cluster = Cluster::build(spec, 3);
  CHECK(cluster.nodes() == 3);
  // 4 GPUs, 2 CPUs, 2 switches, 1 NIC per node and one switch of the fabric.
  CHECK(cluster.vertices().size() == 3 * 9 + 1);
  // Per node 14 connections both ways (6 NVLink, 4 GPU, 1 NIC, 2 switch, 1 socket), two staging links per
  // GPU, and the NIC's to the fabric.
  CHECK(cluster.links().size() == 3 * (2 * 14 + 2 * 4) + 3 * 2);
  CHECK(cluster.capacities().size() == cluster.links().size());
}

TEST_CASE("devices of node k stand where those of node 0 stand, shifted") {
  const Cluster cluster = Cluster::build(test::nvlink_cluster(3, 1), 3);
  CHECK(cluster.gpu(0, 0) == 0);
  CHECK(cluster.gpu(2, 3) == 2 * 9 + 3);
  CHECK(cluster.nic(1, 0) == 9 + 8);
  CHECK(cluster.first_link(2) == 2 * (28 + 2 * 4));
  const Vertex& gpu = cluster.vertices()[cluster.gpu(2, 3)];
  CHECK(gpu.kind == VertexKind::gpu);
  CHECK(gpu.node == 2);
  CHECK(gpu.index == 3);
}

TEST_CASE("a route of node k is that of node 0 with every link shifted") {
  const Cluster cluster = Cluster::build(test::nvlink_cluster(3, 1), 3);
  for (int b = 1; b < 4; ++b) {
    Route shifted = cluster.route_in_node(cluster.gpu(0, 0), cluster.gpu(0, b));
    for (LinkId& link : shifted.links) link += cluster.first_link(2);
    const Route route = cluster.route(cluster.gpu(2, 0), cluster.gpu(2, b));
    CHECK(route.links == shifted.links);
    CHECK(route.latency == shifted.latency);
    CHECK(test::route_text(cluster, route) == "gpu0@2 gpu" + std::to_string(b) + "@2");
  }
}

TEST_CASE("the CPU of a GPU is the nearest one") {
  const Cluster cluster = Cluster::build(test::nvlink_cluster(2, 1), 2);
  CHECK(test::device_text(cluster, cluster.cpu_of_gpu(0, 1)) == "cpu0@0");
  CHECK(test::device_text(cluster, cluster.cpu_of_gpu(1, 2)) == "cpu1@1");
}

TEST_CASE("the CPU of a GPU is one it can reach, even if cpu0 hangs loose") {
  ClusterSpec spec = test::plain_node(2, test::v100());
  spec.node.cpus = 2;
  for (NodeLink& link : spec.node.links) link.b = "cpu1";
  REQUIRE(check(spec).empty());
  const Cluster cluster = Cluster::build(spec, 1);
  CHECK(test::device_text(cluster, cluster.cpu_of_gpu(0, 0)) == "cpu1");
}

TEST_CASE("the distance to a NIC counts PCIe and socket links") {
  const Cluster cluster = Cluster::build(test::nvlink_cluster(1, 2), 1);
  CHECK(cluster.nic_distance(0, 0) == 2);  // gpu0 switch0 nic0
  CHECK(cluster.nic_distance(1, 0) == 2);
  CHECK(cluster.nic_distance(0, 1) == 5);  // gpu0 switch0 cpu0 cpu1 switch1 nic1
  CHECK(cluster.nic_distance(3, 1) == 2);
}

TEST_CASE("between nodes the way is GPU, NIC, fabric, NIC, GPU, and its numbers are sums and minima") {
  const Cluster cluster = Cluster::build(test::nvlink_cluster(2, 1), 2);
  const Route route = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(1, 3), 0);
  CHECK(test::route_text(cluster, route) ==
        "gpu0@0 switch0@0 nic0@0 leaf0 nic0@1 switch0@1 cpu0@1 cpu1@1 switch1@1 gpu3@1");
  CHECK(route.crosses_network);
  CHECK_FALSE(route.nvlink_only);
  CHECK(route.pcie_hops == 7);
  // 6 PCIe hops of 1 us, the socket's 0.5, two network hops of 0.6 and one switch of 0.3.
  CHECK(route.latency == microseconds(6 * 1.0 + 0.5 + 2 * 0.6 + 0.3));
  CHECK(route.bandwidth.per_second == Approx(12.3e9));
}

TEST_CASE("the rail picks the NIC on both sides") {
  const Cluster cluster = Cluster::build(test::nvlink_cluster(2, 2), 2);
  const Route route = cluster.route_between_nodes(cluster.gpu(1, 2), cluster.gpu(0, 3), 1);
  CHECK(test::route_text(cluster, route) == "gpu2@1 switch1@1 nic1@1 leaf0 nic1@0 switch1@0 gpu3@0");
}

TEST_CASE("a slow network link is the bandwidth of the whole way, with its efficiency") {
  ClusterSpec spec = test::star_cluster(2, {3e9});
  spec.fabric.link.collective_efficiency = 0.8;
  const Cluster cluster = Cluster::build(spec, 2);
  const Route route = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(1, 0), 0);
  CHECK(route.bandwidth.per_second == 3e9);
  CHECK(route.collective_efficiency == 0.8);
}

}  // namespace cluster_test
