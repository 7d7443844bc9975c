// How many links a message takes between NICs: closed forms of every fabric, and who shares which switch.
#include <map>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/dragonfly.hpp"
#include "sim/cluster/fabrics/fat_tree.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fabric_examples.hpp"
#include "tests/support/route_text.hpp"

namespace fabric_hops_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// Network links between NIC `a_nic` of node a and NIC `b_nic` of node b.
int hops(const Cluster& cluster, int a, int b, int a_nic = 0, int b_nic = 0) {
  const Route route = cluster.route_between_nodes(cluster.gpu(a, 0), cluster.gpu(b, 0), a_nic, b_nic);
  int count = 0;
  for (const LinkId id : route.links) count += cluster.links()[id].kind == LinkKind::network ? 1 : 0;
  return count;
}

/// How many pairs of different nodes are so many hops apart.
std::map<int, int> pairs_by_hops(const ClusterSpec& spec) {
  const Cluster cluster = Cluster::build(spec, spec.nodes);
  std::map<int, int> pairs;
  for (int a = 0; a < spec.nodes; ++a) {
    for (int b = 0; b < spec.nodes; ++b) {
      if (a != b) ++pairs[hops(cluster, a, b)];
    }
  }
  return pairs;
}

ClusterSpec one_nic(std::string kind, int nodes) {
  ClusterSpec spec = star_cluster(nodes, {12.5e9});
  spec.fabric.kind = std::move(kind);
  return spec;
}

using Counts = std::map<int, int>;

}  // namespace

TEST_CASE("a fat tree of three levels takes 2, 4 or 6 links: one leaf, one group, two groups") {
  ClusterSpec spec = one_nic("fat_tree", 16);
  FatTree& tree = spec.fabric.edit<FatTree>();
  tree.levels = 3;
  tree.nodes_per_leaf = 2, tree.leaves_per_group = 4, tree.uplinks_per_leaf = 2;
  // Of 15 others 1 is below the same leaf, 8 - 2 in the same group, 8 in the other one.
  CHECK(pairs_by_hops(spec) == Counts{{2, 16 * 1}, {4, 16 * 6}, {6, 16 * 8}});
}

TEST_CASE("with rails a message stays below a leaf within its rail and group, and changes rails at a spine") {
  const Cluster cluster = Cluster::build(rail_example(), 7);
  CHECK(hops(cluster, 0, 2) == 2);
  CHECK(hops(cluster, 0, 2, 1, 1) == 2);
  CHECK(hops(cluster, 0, 2, 0, 1) == 4);  // the same nodes, another rail
  CHECK(hops(cluster, 0, 3) == 4);        // nodes 0 to 2 are a group
}

TEST_CASE("a dragonfly takes at most a link in each group and one between them") {
  ClusterSpec spec = one_nic("dragonfly", 12);
  Dragonfly& groups = spec.fabric.edit<Dragonfly>();
  groups.groups = 3, groups.routers_per_group = 4, groups.nodes_per_router = 1, groups.global_links = 1;
  const std::map<int, int> pairs = pairs_by_hops(spec);
  // In a group: router to router, 12 * 3 pairs. Between two groups: 4 routers by 4, of which the two gateways
  // need no local link; a local link on one side is needed by 3 + 3 pairs, on both by 3 * 3; three pairs of
  // groups, both ways.
  CHECK(pairs == Counts{{3, 12 * 3 + 6 * 1}, {4, 6 * 6}, {5, 6 * 9}});
}

TEST_CASE("spread NICs put each NIC of a node at another router") {
  const Cluster cluster = Cluster::build(dragonfly_example(true), 12);
  CHECK(hops(cluster, 0, 1) == 2);        // two nodes share a block of two routers
  CHECK(hops(cluster, 0, 1, 0, 1) == 3);  // whose routers are joined
  CHECK(hops(cluster, 0, 2) == 3);        // the next block
  const Cluster together = Cluster::build(dragonfly_example(false), 12);
  CHECK(hops(together, 0, 1) == 3);
  CHECK(hops(together, 0, 1, 0, 1) == 3);
}

TEST_CASE("a dragonfly+ takes 2, 4 or 5 links: one leaf, one cell, two cells") {
  for (const int global_links : {1, 2, 5}) {
    ClusterSpec spec = cells_example(global_links);
    spec.nodes = 12;
    CHECK(pairs_by_hops(spec) == Counts{{2, 12 * 1}, {4, 12 * 2}, {5, 12 * 8}});
  }
}

TEST_CASE("a torus takes the shorter way round in every dimension") {
  const Cluster cluster = Cluster::build(torus_example({5, 4}, 20), 20);
  for (int node = 1; node < 20; ++node) {
    const int x = node % 5, y = node / 5;
    CHECK(hops(cluster, 0, node) == 2 + std::min(x, 5 - x) + std::min(y, 4 - y));
  }
}

TEST_CASE("a torus goes through dimension after dimension") {
  const Cluster cluster = Cluster::build(torus_example({3, 3}, 9), 9);
  const Route route =
      cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(5, 0), 0);  // 5 is (2, 1): one down, one up
  CHECK(route_text(cluster, route) ==
        "gpu0@0 switch0@0 nic0@0 router0 router2 router5 nic0@5 switch0@5 gpu0@5");
}

TEST_CASE("a torus of two routers per dimension has a link of its own for each sender") {
  const Cluster cluster = Cluster::build(torus_example({2}, 2), 2);
  const Route there = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(1, 0), 0);
  const Route back = cluster.route_between_nodes(cluster.gpu(1, 0), cluster.gpu(0, 0), 0);
  CHECK(there.links[3] / 2 != back.links[3] / 2);
}

TEST_CASE("an explicit graph is crossed by shortest ways, and the receiver chooses among them") {
  const Cluster cluster = Cluster::build(graph_example(), 5);
  CHECK(hops(cluster, 0, 1) == 2);
  CHECK(hops(cluster, 0, 2) == 4);
  CHECK(hops(cluster, 0, 4) == 5);
  const auto middle = [&](int nic) {
    const Route route = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(2, 0), nic);
    return cluster.links()[route.links[3]].to;
  };
  CHECK(middle(0) != middle(1));  // consecutive NICs are dealt out in turn: top and bottom
}

TEST_CASE("by destination two senders meet on the way to one receiver, by flow they need not") {
  ClusterSpec spec = one_nic("fat_tree", 64);
  FatTree& tree = spec.fabric.edit<FatTree>();
  tree.nodes_per_leaf = 32, tree.uplinks_per_leaf = 8;
  const auto spines_to_one = [&] {
    const Cluster cluster = Cluster::build(spec, 64);
    std::map<LinkId, int> uplinks;
    for (int sender = 0; sender < 32; ++sender)
      ++uplinks[cluster.route_between_nodes(cluster.gpu(sender, 0), cluster.gpu(40, 0), 0).links[3]];
    return uplinks.size();
  };
  CHECK(spines_to_one() == 1);
  spec.fabric.ecmp = PathChoice::flow;
  CHECK(spines_to_one() == 8);  // 32 hashed senders over 8 spines
}

}  // namespace fabric_hops_test
