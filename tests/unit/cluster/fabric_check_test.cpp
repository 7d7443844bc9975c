// What a fabric's parameters can have wrong: each missing, too small, too large or contradictory value has
// its message.
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/dragonfly.hpp"
#include "sim/cluster/fabrics/explicit.hpp"
#include "sim/cluster/fabrics/fat_tree.hpp"
#include "sim/cluster/fabrics/rail_optimized.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fabric_examples.hpp"

namespace fabric_check_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// "message | hint\n" of every fault, with the line of the link in front where one is to blame.
std::string faults_of(const ClusterSpec& spec) {
  std::string text;
  for (const ClusterFault& fault : check(spec)) {
    if (fault.fabric_link.line > 0) text += std::to_string(fault.fabric_link.line) + ": ";
    text += fault.message + " | " + fault.hint + "\n";
  }
  return text;
}

ClusterSpec graph(std::vector<FabricLink> links) {
  ClusterSpec spec = graph_example();
  spec.nodes = 2;
  for (std::size_t i = 0; i < links.size(); ++i) links[i].span.line = static_cast<int>(i) + 1;
  spec.fabric.edit<ExplicitFabric>().graph = std::move(links);
  return spec;
}

}  // namespace

TEST_CASE("a fat tree of three levels needs groups, one of two levels has none") {
  ClusterSpec spec = tree_example(3);
  spec.fabric.edit<FatTree>().leaves_per_group = 0;
  CHECK(faults_of(spec) ==
        "a fat_tree of three levels needs leaves_per_group | leaves_per_group = 32 joins 32 leaves and their "
        "spines to a group, below the "
        "core "
        "switches\n");
  spec = tree_example(3);
  spec.fabric.edit<FatTree>().levels = 2;
  CHECK(faults_of(spec) ==
        "a fat_tree of two levels has no groups and no links above its spines | set levels = 3\n");
  spec.fabric.edit<FatTree>().levels = 4;
  CHECK(faults_of(spec) == "a fat_tree has two or three levels | set levels = 2 or levels = 3\n");
}

TEST_CASE("rails need leaves and uplinks") {
  ClusterSpec spec = rail_example();
  spec.fabric.edit<RailOptimized>().nodes_per_leaf = spec.fabric.edit<RailOptimized>().uplinks_per_leaf = 0;
  CHECK(faults_of(spec) ==
        "a rail_optimized needs nodes_per_leaf | nodes_per_leaf = 32 joins NIC 0 of 32 nodes to one leaf, "
        "NIC 1 to the next\n"
        "a rail_optimized needs uplinks_per_leaf | uplinks_per_leaf = 32 makes 32 spine switches, one link "
        "from every leaf to each\n");
  spec = rail_example();
  spec.fabric.edit<RailOptimized>().uplinks_per_leaf = 1'000'000;
  CHECK(faults_of(spec) ==
        "the rail_optimized has too many links between switches | raise nodes_per_leaf or lower "
        "uplinks_per_leaf\n");
}

TEST_CASE("a dragonfly needs its four numbers and room for the nodes") {
  ClusterSpec spec = over_fabric("dragonfly", 12);
  CHECK(faults_of(spec) ==
        "a dragonfly needs groups | groups = 24 is the number of groups of routers\n"
        "a dragonfly needs routers_per_group | routers_per_group = 32, all joined to each other\n"
        "a dragonfly needs nodes_per_router | nodes_per_router = 2 puts all NICs of 2 nodes at a router\n");
  Dragonfly& groups = spec.fabric.edit<Dragonfly>();
  groups.groups = 2, groups.routers_per_group = 3, groups.nodes_per_router = 1;
  CHECK(faults_of(spec) ==
        "a dragonfly needs global_links | global_links = 10 joins every two groups by 10 links\n");
  groups.global_links = 1;
  CHECK(faults_of(spec) ==
        "a dragonfly of this size holds 6 nodes, not 12 | raise groups, routers_per_group or "
        "nodes_per_router\n");
  groups.groups = 100'000, groups.routers_per_group = 100'000;
  CHECK(faults_of(spec) ==
        "the dragonfly has too many links between switches | lower routers_per_group or global_links\n");
}

TEST_CASE("spread NICs need routers that can be dealt out") {
  ClusterSpec spec = dragonfly_example(true);
  spec.fabric.edit<Dragonfly>().routers_per_group = 5;
  CHECK(faults_of(spec) ==
        "5 routers of a group cannot be dealt out to 2 NICs of a node | with spread_nics, routers_per_group "
        "is a multiple of the NICs of a "
        "node\n");
}

TEST_CASE("a dragonfly+ needs its five numbers and room for the nodes") {
  ClusterSpec spec = over_fabric("dragonfly_plus", 12);
  CHECK(faults_of(spec) ==
        "a dragonfly_plus needs groups | groups = 20 is the number of cells\n"
        "a dragonfly_plus needs leaves_per_group | leaves_per_group = 18 is the leaf switches of a cell\n"
        "a dragonfly_plus needs nodes_per_leaf | nodes_per_leaf = 10 puts all NICs of 10 nodes at a leaf\n"
        "a dragonfly_plus needs uplinks_per_leaf | uplinks_per_leaf = 18 makes 18 spine switches per cell, "
        "one link from every leaf to "
        "each\n");
  spec = cells_example(0);
  CHECK(faults_of(spec) ==
        "a dragonfly_plus needs global_links | global_links = 18 joins every two cells by 18 links\n");
  spec = cells_example(1);
  spec.nodes = 13;
  CHECK(faults_of(spec) ==
        "a dragonfly_plus of this size holds 12 nodes, not 13 | raise groups, leaves_per_group or "
        "nodes_per_leaf\n");
}

TEST_CASE("a torus needs dimensions whose product holds the nodes") {
  CHECK(faults_of(torus_example({}, 2)) ==
        "a torus needs dimensions | dimensions = [8, 8, 8] is a cube of 512 routers\n");
  CHECK(faults_of(torus_example({4, 4}, 17)) ==
        "a torus of this size holds 16 nodes, not 17 | raise dimensions or nodes_per_router\n");
  CHECK(faults_of(torus_example({4, 0}, 2)) == "a dimension of the torus is less than one | \n");
  CHECK(faults_of(torus_example({2, 2, 2, 2, 2, 2, 2}, 2)) == "a torus has at most six dimensions | \n");
  CHECK(faults_of(torus_example({100'000, 100'000, 100'000, 100'000}, 2)) ==
        "the torus has too many routers | the product of its dimensions may be 100000\n");
}

TEST_CASE("an explicit fabric without links is none") {
  CHECK(faults_of(graph({})) ==
        "an explicit fabric needs links | add [[fabric.links]] with pairs = [[\"leaf0\", \"node0-17\"], "
        "[\"leaf0\", \"spine0\"]]\n");
}

TEST_CASE("an isolated NIC is named") {
  CHECK(faults_of(graph({join("a", "node0"), join("a", "node1.nic0")})) ==
        "node1.nic1 is not connected | add a pair, as in [\"leaf0\", \"node0-17.nic0\"]\n");
}

TEST_CASE("switches that nothing joins leave NICs that cannot be reached") {
  CHECK(faults_of(graph({join("a", "node0"), join("b", "node1")})) ==
        "node1.nic0 cannot be reached from node0.nic0 | connect their switches\n");
}

TEST_CASE("a wrong link of an explicit fabric is pointed at") {
  CHECK(faults_of(graph({join("a", "node0-1"), join("node0", "node1")})) ==
        "2: the link node0 - node1 joins two NICs | put a switch between them\n");
  CHECK(faults_of(graph({join("a", "node0-1"), join("a", "a")})) ==
        "2: a link from a to itself | a link connects two different switches\n");
  CHECK(faults_of(graph({join("a", "node0-1"), join("b", "node1.nic1"), join("a", "b")})) ==
        "2: node1.nic1 is connected twice | a NIC has one link; count = 2 doubles it\n");
  CHECK(
      faults_of(graph({join("a", "node0-1"), join("a", "node1.nic2")})) ==
      "2: the link a - node1.nic2 names NICs that a node does not have | nodes have 2 NICs, nic0 to nic1\n");
  CHECK(faults_of(graph({join("a", "node0-2")})) ==
        "1: there is no node2 in the cluster | it has 2 nodes, from node0 on\n");
}

TEST_CASE("what only resembles a NIC is the name of a switch") {
  CHECK(faults_of(graph({join("nodes", "node0-1"), join("node", "nodes"), join("node1.nic", "node")})) == "");
}

TEST_CASE("an explicit fabric has at most 1024 switches") {
  std::vector<FabricLink> links{join("s0", "node0-1")};
  for (int i = 1; i <= 1024; ++i) links.push_back(join("s0", "s" + std::to_string(i)));
  CHECK(faults_of(graph(links)) == "an explicit fabric has at most 1024 switches | \n");
}

}  // namespace fabric_check_test
