// Which copies between GPUs reach the rate of their links.
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/routing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace peer_copy_test {

using namespace foretrain;

namespace {

double share(const ClusterSpec& spec, int from, int to) {
  const Cluster cluster = Cluster::build(spec, 1);
  return peer_copy_share(cluster, cluster.route(cluster.gpu(0, from), cluster.gpu(0, to)));
}

}  // namespace

TEST_CASE("a copy over NVLink has the links for itself") {
  CHECK(share(test::nvlink_cluster(1, 1), 0, 3) == 1);
}

TEST_CASE("a copy through one PCIe switch runs at the rate of PCIe") {
  CHECK(share(test::two_socket_node(2), 0, 1) == 1);
}

TEST_CASE("a copy through a CPU reaches 0.64 of PCIe, with or without a socket link") {
  CHECK(share(test::pcie_cluster(1, 2), 0, 1) == 0.64);
  CHECK(share(test::two_socket_node(2), 0, 2) == 0.64);
}

TEST_CASE("staged copies are not slowed down twice") {
  ClusterSpec spec = test::pcie_cluster(1, 2);
  spec.node.peer_access = false;
  const Cluster cluster = Cluster::build(spec, 1);
  const Route route = cluster.route(cluster.gpu(0, 0), cluster.gpu(0, 1));
  CHECK(route.staged);
  CHECK(route.bandwidth.per_second == Approx(0.64 * 12.3e9));
  CHECK(peer_copy_share(cluster, route) == 1);
}

TEST_CASE("GPUs on a CPU's own NVLinks meet there without loss") {
  ClusterSpec spec = test::plain_node(2, test::v100());
  for (NodeLink& link : spec.node.links) link.type = test::nvlink2();
  CHECK(share(spec, 0, 1) == 1);
}

}  // namespace peer_copy_test
