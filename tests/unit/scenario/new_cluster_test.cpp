// First cluster files: whole and right for every GPU and network of the catalogs, with every assumption
// marked; what cannot be built is refused.
#include "sim/scenario/new_cluster.hpp"

#include <algorithm>

#include "sim/cluster/cluster.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace new_cluster_test {

using namespace foretrain;

namespace {

ClusterSpec read(const std::string& text) {
  const SourceText source{"mine.toml", text};
  return read_or_throw(source, read_cluster);
}

ClusterSpec made(const NewCluster& wanted) { return read(new_cluster_text(wanted)); }

std::vector<std::string> networks() {
  std::vector<std::string> names;
  for (const std::string& name : names_in(CatalogKind::links)) {
    if (open_value(CatalogKind::links, name, read_link_type).kind == LinkKind::network) names.push_back(name);
  }
  return names;
}

int nvlinks_of(const ClusterSpec& spec, const std::string& gpu) {
  int count = 0;
  for (const NodeLink& link : spec.node.links) {
    const bool is_its = link.a == gpu || link.b == gpu;
    count += is_its && link.type.kind == LinkKind::nvlink ? link.count : 0;
  }
  return count;
}

std::string refusal(const NewCluster& wanted) {
  try {
    new_cluster_text(wanted);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every GPU and network of the catalogs makes a cluster that loads without a doubt") {
  test::use_source_catalogs();
  const std::vector<std::string> known = networks();
  REQUIRE(known.size() > 20);
  for (const std::string& gpu : names_in(CatalogKind::gpus)) {
    for (const std::string& network : known) {
      INFO(gpu << " " << network);
      const ClusterSpec spec = made({gpu, 4, 2, network});
      CHECK(warnings_about(spec).empty());
      CHECK(spec.node.gpu.name == gpu);
      CHECK(spec.fabric.link.name == network);
    }
    for (const int gpus : {1, 2, 3, 8, 16, 64}) {
      INFO(gpu << " " << gpus);
      const ClusterSpec spec = made({gpu, gpus, 1, ""});
      CHECK(warnings_about(spec).empty());
      CHECK(spec.node.gpus == gpus);
      CHECK(spec.fabric.kind == "none");
    }
  }
}

TEST_CASE("NVLinks follow the board, or what was asked for") {
  test::use_source_catalogs();
  CHECK(nvlinks_of(made({"a100-sxm4-40gb", 4, 1, ""}), "gpu1") == 12);
  CHECK(made({"a100-sxm4-40gb", 8, 1, ""}).node.nvswitches == 1);
  CHECK(made({"h100-sxm5-80gb", 8, 1, ""}).node.multicast);
  CHECK(nvlinks_of(made({"rtx-3090", 4, 1, ""}), "gpu0") == 0);
  // Seven Infinity Fabric links of two halves, one to each of seven others; AMD has no switches.
  CHECK(nvlinks_of(made({"mi300x", 8, 1, ""}), "gpu7") == 14);
  CHECK(made({"mi300x", 8, 1, ""}).node.nvswitches == 0);
  CHECK_FALSE(made({"mi300x", 16, 1, ""}).node.multicast);
  const ClusterSpec pairs = made({"rtx-3090", 4, 1, "", NvlinkLayout::pairs});
  CHECK(nvlinks_of(pairs, "gpu0") == 4);
  CHECK_FALSE(pairs.node.peer_access);
  CHECK(nvlinks_of(made({"rtx-3090", 3, 1, "", NvlinkLayout::pairs}), "gpu2") == 0);
  CHECK(nvlinks_of(made({"v100-sxm2-32gb", 4, 1, "", NvlinkLayout::none}), "gpu0") == 0);
}

TEST_CASE("what is assumed is marked, what was said is not") {
  test::use_source_catalogs();
  const std::string text = new_cluster_text({"l40s", 4, 2, "roce_100"});
  CHECK_THAT(text,
             ContainsSubstring("\ngpus = 4\ngpu = \"l40s\"\ncpus = 2                        # assumed"));
  CHECK_THAT(text, ContainsSubstring("slowdown = 1.7                  # assumed: "));
  CHECK_THAT(text, ContainsSubstring("kind = \"star\"                   # assumed: "));
  CHECK_FALSE(read(text).node.host.cpu.starts_with("?"));
  CHECK_FALSE(made({"l40s", 4, 2, "eth_25_tcp"}).node.gpudirect);
  CHECK(made({"l40s", 4, 2, "roce_100"}).node.gpudirect);
}

TEST_CASE("what cannot be built is refused, every mistake at once") {
  test::use_source_catalogs();
  const std::string two = refusal({"l40", 3, 2, "pcie4_x16", NvlinkLayout::all});
  CHECK_THAT(two, ContainsSubstring("pcie4_x16 is no link between nodes"));
  CHECK_THAT(two, ContainsSubstring("l40 has no NVLinks"));
  const std::string unknown = refusal({"l41", 3, 2, "roce_1000"});
  CHECK_THAT(unknown, ContainsSubstring("unknown GPU \"l41\""));
  CHECK_THAT(unknown, ContainsSubstring("unknown link \"roce_1000\""));
  CHECK_THAT(refusal({"l40", 4, 2, ""}), ContainsSubstring("2 nodes need a network"));
  CHECK_THAT(refusal({"rtx-3090", 4, 1, "", NvlinkLayout::all}), ContainsSubstring("a bridge joins two"));
  CHECK_THAT(refusal({"p100-sxm2-16gb", 8, 1, "", NvlinkLayout::all}), ContainsSubstring("too few for 7"));
  CHECK_THAT(refusal({"a100-sxm4-40gb", 1, 1, "", NvlinkLayout::pairs}), ContainsSubstring("a node has one"));
}

}  // namespace new_cluster_test
