// The fat tree: who meets where, and how pairs spread over the spines.
#include "sim/cluster/fabrics/fat_tree.hpp"

#include <map>

#include "sim/cluster/cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace fat_tree_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

ClusterSpec tree(int nodes, int nodes_per_leaf, int uplinks) {
  ClusterSpec spec = star_cluster(nodes, {12.5e9});
  spec.fabric.kind = "fat_tree";
  FatTree& tree = spec.fabric.edit<FatTree>();
  tree.nodes_per_leaf = nodes_per_leaf, tree.uplinks_per_leaf = uplinks;
  return spec;
}

Route between(const Cluster& cluster, int a, int b) {
  return cluster.route_between_nodes(cluster.gpu(a, 0), cluster.gpu(b, 0), 0);
}

}  // namespace

TEST_CASE("nodes under one leaf meet there, others over a spine") {
  const Cluster cluster = Cluster::build(tree(8, 4, 2), 8);
  const Route near = between(cluster, 0, 3), far = between(cluster, 0, 4);
  CHECK(near.links.size() == 6);  // gpu cpu nic leaf nic cpu gpu
  CHECK(far.links.size() == 8);   // two uplinks more
  CHECK(far.latency - near.latency == 2 * microseconds(0.6) + 2 * microseconds(0.3));
  CHECK(cluster.vertices()[cluster.links()[far.links[3]].to].kind == VertexKind::spine);
}

TEST_CASE("links follow each other from end to end") {
  const Cluster cluster = Cluster::build(tree(9, 4, 3), 9);
  for (int a = 0; a < 9; ++a) {
    for (int b = 0; b < 9; ++b) {
      if (a == b) continue;
      const Route route = between(cluster, a, b);
      for (std::size_t i = 1; i < route.links.size(); ++i) {
        REQUIRE(cluster.links()[route.links[i]].from == cluster.links()[route.links[i - 1]].to);
      }
      REQUIRE(cluster.links()[route.links.back()].to == cluster.gpu(b, 0));
    }
  }
}

TEST_CASE("a leaf that sends to another one uses all its uplinks evenly") {
  const Cluster cluster = Cluster::build(tree(32, 16, 4), 32);
  std::map<LinkId, int> flows;
  for (int a = 0; a < 16; ++a) ++flows[between(cluster, a, 16 + a).links[3]];
  CHECK(flows.size() == 4);
  for (const auto& [uplink, count] : flows) CHECK(count == 4);  // 16 pairs over 4 uplinks
}

TEST_CASE("two senders to one receiver meet on the way down") {
  const Cluster cluster = Cluster::build(tree(32, 16, 4), 32);
  CHECK(between(cluster, 0, 17).links[3] == between(cluster, 1, 17).links[3]);
  CHECK(between(cluster, 0, 17).links[4] == between(cluster, 1, 17).links[4]);
}

TEST_CASE("uplinks have the rate of their own type, or that of the NICs when none is given") {
  ClusterSpec spec = tree(4, 2, 1);
  const LinkId uplink = between(Cluster::build(spec, 4), 0, 2).links[3];
  CHECK(Cluster::build(spec, 4).links()[uplink].bandwidth == ByteRate{12.5e9});
  spec.fabric.uplink = link_type("uplink", LinkKind::network, 25, 0.6);
  CHECK(Cluster::build(spec, 4).links()[uplink].bandwidth == ByteRate{25e9});
}

}  // namespace fat_tree_test
