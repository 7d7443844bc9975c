// Routes: NVLink first, then PCIe and sockets; host staging; between nodes over a rail.
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/node_layout.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace routing_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// Kinds of the devices on the way, between the two ends.
std::vector<VertexKind> passed(const Cluster& cluster, const Route& route) {
  std::vector<VertexKind> kinds;
  for (std::size_t i = 1; i < route.links.size(); ++i)
    kinds.push_back(cluster.vertices()[cluster.links()[route.links[i]].from].kind);
  return kinds;
}

using Kinds = std::vector<VertexKind>;
constexpr VertexKind kSwitch = VertexKind::pcie_switch, kCpu = VertexKind::cpu;

}  // namespace

TEST_CASE("GPUs with NVLink between them use it directly") {
  const Cluster cluster = Cluster::build(nvlink_cluster(1, 2), 1);
  const Route route = cluster.route(cluster.gpu(0, 0), cluster.gpu(0, 3));
  CHECK(route.links.size() == 1);
  CHECK(route.nvlink_only);
  CHECK(route.bandwidth == ByteRate{2 * 24.25e9});
  CHECK(route.collective_efficiency == 0.90);
  CHECK(route.pcie_hops == 0);
}

TEST_CASE("a missing NVLink is not replaced by a way through a third GPU") {
  ClusterSpec spec = nvlink_cluster(1, 2);
  std::erase_if(spec.node.links, [](const NodeLink& link) { return link.a == "gpu0" && link.b == "gpu3"; });
  const Cluster cluster = Cluster::build(spec, 1);
  const Route route = cluster.route(cluster.gpu(0, 0), cluster.gpu(0, 3));
  CHECK_FALSE(route.nvlink_only);
  CHECK(passed(cluster, route) == Kinds{kSwitch, kCpu, kCpu, kSwitch});
  CHECK(route.pcie_hops == 5);
  CHECK(route.bandwidth == ByteRate{12.3e9});
  CHECK(route.latency == microseconds(4 * 1.0 + 0.5));  // four PCIe hops and one socket link
}

TEST_CASE("an NVSwitch joins GPUs in two hops") {
  ClusterSpec spec = pcie_cluster(1, 4);
  spec.node.nvswitches = 1;
  for (int g = 0; g < 4; ++g)
    spec.node.links.push_back(connect("gpu" + std::to_string(g), "nvswitch0", nvlink3(), 12));
  REQUIRE(check(spec).empty());
  const Cluster cluster = Cluster::build(spec, 1);
  const Route route = cluster.route(cluster.gpu(0, 1), cluster.gpu(0, 2));
  CHECK(passed(cluster, route) == Kinds{VertexKind::nvswitch});
  CHECK(route.nvlink_only);
}

TEST_CASE("a NIC or a GPU is never passed through") {
  ClusterSpec spec = pcie_cluster(1, 2);
  spec.node.links.push_back(connect("gpu0", "nic0", link_type("shortcut", LinkKind::pcie, 100, 0)));
  spec.node.links.push_back(connect("gpu1", "nic0", link_type("shortcut", LinkKind::pcie, 100, 0)));
  const Cluster cluster = Cluster::build(spec, 1);
  CHECK(passed(cluster, cluster.route(cluster.gpu(0, 0), cluster.gpu(0, 1))) == Kinds{kCpu});
  CHECK(cluster.nic_distance(0, 0) == 1);
}

TEST_CASE("without peer access PCIe traffic goes up to the CPU, even under a common switch") {
  ClusterSpec spec = nvlink_cluster(1, 2);
  std::erase_if(spec.node.links, [](const NodeLink& link) { return link.type.kind == LinkKind::nvlink; });
  const Cluster direct = Cluster::build(spec, 1);
  CHECK(passed(direct, direct.route(direct.gpu(0, 0), direct.gpu(0, 1))) == Kinds{kSwitch});
  spec.node.peer_access = false;
  const Cluster staged = Cluster::build(spec, 1);
  const Route route = staged.route(staged.gpu(0, 0), staged.gpu(0, 1));
  CHECK(route.staged);
  CHECK(passed(staged, route) == Kinds{VertexKind::gpu, kSwitch, kCpu, kSwitch,
                                       VertexKind::gpu});  // the GPUs' own staging links at the ends
  CHECK(route.bandwidth.per_second == Approx(12.3e9 * kRootComplexShare));
}

TEST_CASE("NVLink is peer access enough") {
  ClusterSpec spec = nvlink_cluster(1, 2);
  spec.node.peer_access = false;
  const Cluster cluster = Cluster::build(spec, 1);
  CHECK_FALSE(cluster.route(cluster.gpu(0, 0), cluster.gpu(0, 1)).staged);
}

TEST_CASE("the faster of two links between one pair is taken") {
  ClusterSpec spec = pcie_cluster(1, 1);
  spec.node.links.push_back(connect("gpu0", "cpu0", nvlink2(), 3));  // as between POWER9 and V100
  const Cluster cluster = Cluster::build(spec, 1);
  CHECK(cluster.route(cluster.cpu_of_gpu(0, 0), cluster.gpu(0, 0)).bandwidth == ByteRate{3 * 24.25e9});
}

TEST_CASE("every GPU knows the CPU of its own socket") {
  const Cluster cluster = Cluster::build(nvlink_cluster(2, 2), 2);
  for (int g = 0; g < 4; ++g) CHECK(cluster.vertices()[cluster.cpu_of_gpu(1, g)].index == g / 2);
  CHECK(cluster.vertices()[cluster.cpu_of_gpu(1, 3)].node == 1);
}

TEST_CASE("a route of node 0 shifted by its first link is the route of another node") {
  const Cluster cluster = Cluster::build(nvlink_cluster(3, 2), 3);
  const Route here = cluster.route(cluster.gpu(2, 0), cluster.nic(2, 1));
  const Route& pattern = cluster.route_in_node(cluster.gpu(2, 0), cluster.nic(2, 1));
  REQUIRE(here.links.size() == pattern.links.size());
  for (std::size_t i = 0; i < here.links.size(); ++i)
    CHECK(here.links[i] == pattern.links[i] + cluster.first_link(2));
  CHECK(cluster.links()[here.links.front()].from == cluster.gpu(2, 0));
  CHECK(cluster.links()[here.links.back()].to == cluster.nic(2, 1));
}

TEST_CASE("between nodes the rail picks the NIC on both sides") {
  const Cluster cluster = Cluster::build(nvlink_cluster(2, 2), 2);
  const Route route = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(1, 0), 0);
  CHECK(passed(cluster, route) ==
        Kinds{kSwitch, VertexKind::nic, VertexKind::leaf, VertexKind::nic, kSwitch});
  CHECK(route.crosses_network);
  // four PCIe hops of 1 us, two network hops of 0.6 us, one switch of 0.3 us
  CHECK(route.latency == microseconds(4 * 1.0 + 2 * 0.6 + 0.3));
  const Route far = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(1, 0), 1);
  CHECK(far.links.size() ==
        route.links.size() + 6);  // on both sides up to one CPU, across, and down from the other
}

}  // namespace routing_test
