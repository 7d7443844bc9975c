// Tests of the fabric table: each kind's keys, their limits, and mistakes at their place.
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/dragonfly.hpp"
#include "sim/cluster/fabrics/explicit.hpp"
#include "sim/cluster/fabrics/fat_tree.hpp"
#include "sim/cluster/fabrics/torus.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"

namespace schema_fabric_test {

using namespace foretrain;

namespace {

struct ReadCluster {
  ClusterSpec spec;
  std::string errors;
};

/// A cluster of eight nodes with this fabric, whose first line is number 4.
ReadCluster read(const std::string& fabric) {
  const SourceText source{"net.toml", "nodes = 8\nnode = \"dgx1-v100\"\n[fabric]\n" + fabric};
  Diagnostics diagnostics(source);
  ClusterSpec spec = read_cluster(source, diagnostics);
  return {spec, format(diagnostics.found())};
}

}  // namespace

TEST_CASE("every fabric's keys arrive") {
  const auto [tree, tree_errors] = read(R"(kind = "fat_tree"
link = "ib_edr"
levels = 3
nodes_per_leaf = 2
uplinks_per_leaf = 4
leaves_per_group = 2
uplinks_per_spine = 3
parallel_links = 2
ecmp = "flow"
in_network_reduction = true
)");
  REQUIRE(tree_errors.empty());
  CHECK(tree.fabric.get<FatTree>().levels == 3);
  CHECK(tree.fabric.get<FatTree>().leaves_per_group == 2);
  CHECK(tree.fabric.get<FatTree>().uplinks_per_spine == 3);
  CHECK(tree.fabric.get<FatTree>().parallel_links == 2);
  CHECK(tree.fabric.ecmp == PathChoice::flow);
  CHECK(tree.fabric.in_network_reduction);
  const auto [dragonfly, dragonfly_errors] = read(R"(kind = "dragonfly"
link = "ib_edr"
groups = 2
routers_per_group = 4
nodes_per_router = 1
global_links = 3
spread_nics = true
)");
  REQUIRE(dragonfly_errors.empty());
  CHECK(dragonfly.fabric.get<Dragonfly>().groups == 2);
  CHECK(dragonfly.fabric.get<Dragonfly>().routers_per_group == 4);
  CHECK(dragonfly.fabric.get<Dragonfly>().nodes_per_router == 1);
  CHECK(dragonfly.fabric.get<Dragonfly>().global_links == 3);
  CHECK(dragonfly.fabric.get<Dragonfly>().spread_nics);
  CHECK(dragonfly.fabric.ecmp == PathChoice::destination);
  const auto [torus, torus_errors] = read("kind = \"torus\"\nlink = \"ib_edr\"\ndimensions = [2, 4]\n");
  REQUIRE(torus_errors.empty());
  CHECK(torus.fabric.get<Torus>().dimensions == std::vector<int>{2, 4});
}

TEST_CASE("an explicit graph lists its links, with a link type of their own or that of the fabric") {
  const auto [spec, errors] = read(R"(kind = "explicit"
link = "ib_edr"
[[fabric.links]]
pairs = [["leaf0", "node0-3"], ["leaf1", "node4-7"]]
[[fabric.links]]
link = "ib_hdr"
count = 2
pairs = [["leaf0", "leaf1"]]
)");
  REQUIRE(errors.empty());
  REQUIRE(spec.fabric.get<ExplicitFabric>().graph.size() == 3);
  CHECK(spec.fabric.get<ExplicitFabric>().graph[0].type.name == "ib_edr");
  CHECK(spec.fabric.get<ExplicitFabric>().graph[2].type.name == "ib_hdr");
  CHECK(spec.fabric.get<ExplicitFabric>().graph[2].count == 2);
  CHECK(spec.fabric.get<ExplicitFabric>().graph[2].span.line == 11);
}

TEST_CASE("a fault of a graph is shown at its pair") {
  CHECK(read(R"(kind = "explicit"
link = "ib_edr"
[[fabric.links]]
pairs = [["leaf0", "node0-7"], ["leaf1", "node3.nic1"], ["leaf0", "leaf1"]]
)")
            .errors ==
        "net.toml:7:32: error: node3.nic1 is connected twice\n"
        "  7 | pairs = [[\"leaf0\", \"node0-7\"], [\"leaf1\", \"node3.nic1\"], [\"leaf0\", \"leaf1\"]]\n"
        "    |                                ^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  hint: a NIC has one link; count = 2 doubles it\n");
}

TEST_CASE("an isolated NIC and a disconnected graph are shown at the fabric") {
  CHECK(read("kind = \"explicit\"\nlink = \"ib_edr\"\n[[fabric.links]]\npairs = [[\"leaf0\", \"node0-6\"]]\n")
            .errors ==
        "net.toml:3:1: error: node7.nic0 is not connected\n"
        "  3 | [fabric]\n"
        "    | ^^^^^^^^\n"
        "  hint: add a pair, as in [\"leaf0\", \"node0-17.nic0\"]\n");
  CHECK_THAT(read("kind = \"explicit\"\nlink = \"ib_edr\"\n[[fabric.links]]\npairs = [[\"a\", \"node0-3\"], "
                  "[\"b\", \"node4-7\"]]\n")
                 .errors,
             ContainsSubstring("node4.nic0 cannot be reached from node0.nic0") &&
                 ContainsSubstring("connect their switches"));
}

TEST_CASE("numbers out of range are reported with the range") {
  CHECK(read("kind = \"torus\"\nlink = \"ib_edr\"\ndimensions = [2, 0]\n").errors ==
        "net.toml:6:18: error: fabric.dimensions must hold integers from 1 to 100000\n"
        "  6 | dimensions = [2, 0]\n"
        "    |                  ^\n");
  CHECK(read("kind = \"torus\"\nlink = \"ib_edr\"\ndimensions = [1, 2, 1, 2, 1, 2, 1]\n").errors ==
        "net.toml:6:14: error: fabric.dimensions has 7 entries, at most 6 are allowed\n"
        "  6 | dimensions = [1, 2, 1, 2, 1, 2, 1]\n"
        "    |              ^^^^^^^^^^^^^^^^^^^^^\n");
  CHECK(read("kind = \"fat_tree\"\nlink = \"ib_edr\"\nnodes_per_leaf = 2\nuplinks_per_leaf = 0\nlevels = "
             "5\nparallel_links = 1025\n")
            .errors ==
        "net.toml:7:20: error: fabric.uplinks_per_leaf must be an integer from 1 to 100000\n"
        "  7 | uplinks_per_leaf = 0\n"
        "    |                    ^\n"
        "net.toml:8:10: error: fabric.levels must be an integer from 2 to 3\n"
        "  8 | levels = 5\n"
        "    |          ^\n"
        "net.toml:9:18: error: fabric.parallel_links must be an integer from 1 to 1024\n"
        "  9 | parallel_links = 1025\n"
        "    |                  ^^^^\n"
        "3 errors\n");
}

TEST_CASE("a key of another kind is an error: it would be without effect") {
  CHECK(read("kind = \"star\"\nlink = \"ib_edr\"\ngroups = 4\n").errors ==
        "net.toml:6:10: error: fabric.groups is not used by the fabric star\n"
        "  6 | groups = 4\n"
        "    |          ^\n"
        "  hint: star: one non-blocking switch\n");
  CHECK_THAT(read("kind = \"torus\"\nlink = \"ib_edr\"\ndimensions = [8]\nspread_nics = true\n").errors,
             ContainsSubstring("fabric.spread_nics is not used by the fabric torus"));
}

TEST_CASE("an unknown way to choose paths is reported with a suggestion") {
  CHECK(read("kind = \"star\"\nlink = \"ib_edr\"\necmp = \"flows\"\n").errors ==
        "net.toml:6:8: error: unknown fabric.ecmp \"flows\"\n"
        "  6 | ecmp = \"flows\"\n"
        "    |        ^^^^^^^\n"
        "  hint: did you mean \"flow\"?\n");
}

TEST_CASE("a torus that is too small is reported at the fabric") {
  CHECK(read("kind = \"torus\"\nlink = \"ib_edr\"\ndimensions = [2, 3]\n").errors ==
        "net.toml:3:1: error: a torus of this size holds 6 nodes, not 8\n"
        "  3 | [fabric]\n"
        "    | ^^^^^^^^\n"
        "  hint: raise dimensions or nodes_per_router\n");
}

TEST_CASE("what is no table of links or no pair is reported") {
  CHECK(read("kind = \"explicit\"\nlink = \"ib_edr\"\nlinks = [3]\n").errors ==
        "net.toml:6:10: error: fabric.links holds tables\n"
        "  6 | links = [3]\n"
        "    |          ^\n"
        "  hint: write [[fabric.links]]\n");
  CHECK_THAT(read("kind = \"explicit\"\nlink = \"ib_edr\"\n[[fabric.links]]\nlink = \"pcie3_x16\"\npairs = "
                  "[[\"a\"]]\n")
                 .errors,
             ContainsSubstring("fabric.links.link must be a network link, pcie3_x16 is not") &&
                 ContainsSubstring("a pair is two device names"));
}

}  // namespace schema_fabric_test
