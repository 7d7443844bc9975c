// Clusters of the catalog in words, nodes that look wrong, and two clusters side by side.
#include "sim/report/topology/cluster_words.hpp"

#include "sim/cluster/fabrics/fat_tree.hpp"
#include "sim/report/topology/cluster_difference.hpp"
#include "sim/report/topology/cluster_warnings.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "tests/support/catch.hpp"

namespace cluster_words_test {

using namespace foretrain;

namespace {

std::vector<std::string> doubted(const ClusterSpec& spec) {
  std::vector<std::string> out;
  for (const ClusterWarning& doubt : cluster_warnings(spec)) {
    CHECK_FALSE(doubt.hint.empty());
    out.push_back(doubt.what);
  }
  return out;
}

NodeLink& link_between(ClusterSpec& spec, const std::string& a, const std::string& b) {
  for (NodeLink& link : spec.node.links) {
    if ((link.a == a && link.b == b) || (link.a == b && link.b == a)) return link;
  }
  throw std::runtime_error("no such link");
}

/// NVLinks between pairs of GPUs, one each.
NodeSpec node_with(int gpus, const std::vector<std::pair<int, int>>& pairs) {
  NodeSpec node;
  node.gpus = gpus;
  LinkType nvlink;
  nvlink.kind = LinkKind::nvlink;
  for (const auto& [a, b] : pairs)
    node.links.push_back({"gpu" + std::to_string(a), "gpu" + std::to_string(b), nvlink});
  return node;
}

}  // namespace

TEST_CASE("shapes of NVLinks have their names") {
  const auto words = [](const char* cluster) { return nvlinks_in_words(open_cluster(cluster).node); };
  CHECK(words("dgx1-v100") == "6 NVLinks each, hybrid cube mesh");
  CHECK(words("dgx1-p100") == "4 NVLinks each, hybrid cube mesh");
  CHECK(words("dgx-a100") == "12 NVLinks each, all through NVSwitches");
  CHECK(words("puhti") == "6 NVLinks each, full mesh");
  CHECK(words("summit") == "6 NVLinks each, 2 meshes of 3, 2 of them to the CPU");
  CHECK(words("m3-k80") == "no NVLink");
  CHECK(words("lumi-g") == "12 to 14 Infinity Fabric links each, each joined to 3 of the other 7");
  CHECK(nvlinks_in_words(node_with(4, {{0, 1}, {2, 3}})) == "1 NVLink each, 2 pairs");
  CHECK(nvlinks_in_words(node_with(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}})) == "2 NVLinks each, a ring");
  CHECK(nvlinks_in_words(node_with(4, {{0, 1}, {1, 2}, {2, 3}})) ==
        "1 to 2 NVLinks each, each joined to 1 to 2 of the other 3");
  CHECK(nvlinks_in_words(node_with(3, {{0, 1}})) == "0 to 1 NVLinks each, 2 groups of up to 2");
}

TEST_CASE("a cube whose faces lack a diagonal is no hybrid cube mesh") {
  ClusterSpec spec = open_cluster("dgx1-v100");
  std::erase_if(spec.node.links, [](const NodeLink& link) { return link.a == "gpu1" && link.b == "gpu3"; });
  CHECK(nvlinks_in_words(spec.node) == "5 to 6 NVLinks each, each joined to 3 to 4 of the other 7");
}

TEST_CASE("NICs are said by where they hang") {
  const auto words = [](const char* cluster) { return nics_in_words(open_cluster(cluster).node); };
  CHECK(words("dgx1-v100") == "4 NICs, one per PCIe switch");
  CHECK(words("dgx-a100") == "8 NICs, 2 per PCIe switch");
  CHECK(words("summit") == "2 NICs, one per CPU");
  CHECK(words("mahti") == "1 NIC, at switch0");
  CHECK(words("pcie-8gpu") == "no NIC");
}

TEST_CASE("a fabric is as narrow as its uplinks are few") {
  ClusterSpec spec = open_cluster("puhti");  // 20 nodes of two NICs at a leaf
  FatTree& tree = spec.fabric.edit<FatTree>();
  tree.parallel_links = 1;
  spec.fabric.uplink = spec.fabric.link;
  tree.uplinks_per_leaf = 20;
  CHECK_THAT(fabric_in_words(spec),
             ContainsSubstring("20 nodes at a leaf, 2:1 oversubscribed from leaf to spine"));
  tree.uplinks_per_leaf = 40;
  CHECK_THAT(fabric_in_words(spec), ContainsSubstring("full bandwidth from leaf to spine"));
  tree.levels = 3;
  tree.leaves_per_group = 2;
  tree.uplinks_per_spine = 1;
  CHECK_THAT(fabric_in_words(spec), ContainsSubstring("2:1 oversubscribed from spine to core"));
  tree.nodes_per_leaf = 80;
  CHECK_THAT(fabric_in_words(spec), ContainsSubstring("all nodes at one leaf"));
  CHECK(fabric_in_words(open_cluster("pcie-8gpu")) == "none");
}

TEST_CASE("every cluster of the catalog that is measured has words for each of its parts") {
  for (const char* name :
       {"dgx1-v100", "leonardo", "frontier", "perlmutter", "coreweave-gb200", "gloo-testbed"}) {
    INFO(name);
    const std::string words = cluster_in_words(open_cluster(name));
    for (const char* part : {"  node    ", "  host    ", "  fabric  "})
      CHECK_THAT(words, ContainsSubstring(part));
  }
}

TEST_CASE("what is right is not doubted") {
  for (const char* name : {"dgx1-v100", "dgx-a100", "summit", "mahti", "lumi-g", "pcie-8gpu", "hgx-h100"}) {
    INFO(name);
    CHECK(doubted(open_cluster(name)).empty());
  }
}

TEST_CASE("a GPU behind the other socket's NIC is doubted where each socket could have one") {
  ClusterSpec spec = open_cluster("summit");
  link_between(spec, "nic1", "cpu1").a == "nic1" ? link_between(spec, "nic1", "cpu1").b = "cpu0"
                                                 : link_between(spec, "nic1", "cpu1").a = "cpu0";
  const std::vector<std::string> found = doubted(spec);
  REQUIRE(found.size() == 2);
  CHECK_THAT(found[0], ContainsSubstring("the nearest NIC of gpu3, gpu5 is nic0, behind the other socket") ||
                           ContainsSubstring("the nearest NIC of gpu4 is nic0, behind the other socket"));
}

TEST_CASE("narrow slots, missing NVLinks and NICs faster than their slots are doubted") {
  ClusterSpec spec = open_cluster("puhti");
  link_between(spec, "gpu2", "switch1").type.name = "pcie3_x8";
  link_between(spec, "gpu2", "switch1").type.bandwidth.per_second /= 2;
  link_between(spec, "gpu0", "gpu3").count = 1;
  link_between(spec, "nic1", "switch1").type.bandwidth.per_second /= 4;
  const std::vector<std::string> found = doubted(spec);
  REQUIRE(found.size() == 3);
  CHECK_THAT(found[0],
             ContainsSubstring("gpu2 hang at pcie3_x8") || ContainsSubstring("gpu2 hangs at pcie3_x8"));
  CHECK_THAT(found[1], ContainsSubstring("gpu0, gpu3 have 5 of the 6 NVLinks of v100-sxm2-32gb"));
  CHECK_THAT(found[2], ContainsSubstring("nic1 of 12.3 GBps hangs at"));
}

TEST_CASE("two clusters that differ in nothing are alike, whatever they are called") {
  const ClusterSpec spec = open_cluster("dgx1-v100");
  ClusterSpec other = spec;
  other.name = "mine";
  other.description = "another text";
  CHECK(difference_in_words(spec, other) == "dgx1-v100 and mine are alike\n");
}

TEST_CASE("each difference is a line, equal ones of several devices one") {
  const ClusterSpec a = open_cluster("dgx1-v100");
  ClusterSpec b = a;
  b.name = "b";
  b.nodes = 2;
  link_between(b, "gpu0", "gpu3").count = 1;
  for (const char* nic : {"nic0", "nic1"}) {
    for (NodeLink& link : b.node.links) {
      if (link.a == nic) link.b = "cpu0";
    }
  }
  const std::string text = difference_in_words(a, b);
  CHECK(text.starts_with("dgx1-v100 | b\n  nodes: 128 | 2\n"));
  CHECK_THAT(
      text,
      ContainsSubstring(
          "  shape of NVLinks: 6 NVLinks each, hybrid cube mesh | 5 to 6 NVLinks each, hybrid cube mesh\n"));
  CHECK_THAT(text, ContainsSubstring("  NVLinks of gpu0-gpu3: 2 NVLinks | 1 NVLink\n"));
  CHECK_THAT(text, ContainsSubstring("  places of NICs of nic0: switch0 by pcie3_x16 | cpu0 by pcie3_x16\n"));
  CHECK_THAT(text, ContainsSubstring("  routes of gpu0-gpu3: "));
  CHECK_THAT(text, ContainsSubstring("  alike: GPUs of a node, GPU, "));
  const std::string none = difference_in_words(open_cluster("hgx-a100-40gb"), open_cluster("dgx-a100"));
  CHECK_THAT(none, ContainsSubstring("  places of NICs of nic0, nic1: not there | switch0 by pcie4_x16\n"));
}

TEST_CASE("sites are compared by partition") {
  const ClusterSpec a = open_cluster("puhti");
  ClusterSpec b = a;
  REQUIRE_FALSE(b.site.partitions.empty());
  b.site.partitions.front().most_nodes += 7;
  b.site.partitions.push_back({.name = "night"});
  const std::string text = difference_in_words(a, b);
  CHECK_THAT(text, ContainsSubstring("partitions of " + a.site.partitions.front().name + ": up to "));
  CHECK_THAT(text, ContainsSubstring("partitions of night: not there | up to any nodes"));
}

TEST_CASE("a type of GPU that names another GPU is doubted, a word of the site's own is not") {
  ClusterSpec spec = open_cluster("puhti");
  CHECK(doubted(spec).empty());
  spec.site.gpu_type = "a100";
  REQUIRE(doubted(spec).size() == 1);
  CHECK_THAT(doubted(spec)[0], Catch::Matchers::ContainsSubstring("site.gpu_type a100 names a100-"));
  spec.site.gpu_type = "fast";
  CHECK(doubted(spec).empty());
}

}  // namespace cluster_words_test
