// All mistakes of a cluster file at once, whatever tables they are in; doubts; paths beside the file.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "sim/cluster/cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace cluster_mistakes_test {

using namespace foretrain;
namespace fs = std::filesystem;

namespace {

std::string mistakes_in(const std::string& text) {
  test::use_source_catalogs();
  const SourceText source{"box.toml", text};
  Diagnostics diagnostics(source);
  read_cluster(source, diagnostics);
  return format(diagnostics.found());
}

const std::string kTwoCards = R"(nodes = 1
[node]
gpus = 2
gpu = "rtx-3090"
[node.host]
cores = 16
slowdown = 1.5
memory_bandwidth = "10 GBps"
[[node.links]]
link = "pcie4_x16"
pairs = [["gpu0", "cpu0"], ["gpu1", "cpu0"]]
[[node.links]]
link = "nvlink3_ga102_bridge"
pairs = [["gpu0", "gpu1"]]
)";

std::vector<std::string> doubts_of(const std::string& text) {
  test::use_source_catalogs();
  const SourceText source{"box.toml", text};
  return warnings_about(read_or_throw(source, read_cluster));
}

std::string with(std::string text, const std::string& line, const std::string& instead) {
  const std::size_t at = text.find(line);
  REQUIRE(at != std::string::npos);
  return text.replace(at, line.size(), instead);
}

}  // namespace

TEST_CASE("ten mistakes in all tables of a cluster file are one answer") {
  const std::string found = mistakes_in(R"(descripton = "a"
nodes = 0
calibration = "nobody"

[node]
gpus = 4
gpu = "rtx-3091"

[node.host]
cores = "many"
slowdown = 1.5
memory_bandwidth = "10 GBps"

[[node.links]]
link = "pcie9"
pairs = [["gpu0", "cpu0"], ["gpu1", "cpu0"], ["gpu2", "cpu0"], ["gpu3", "cpu0"]]

[[node.links]]
link = "nvlink3_ga102_bridge"
pairs = [["gpu0", "gpu9"]]

[fabric]
kind = "star"
link = "pcie4_x16"

[storage.nfs]
latency = "3 GB"

[site]
batch_system = "slrum"
)");
  CHECK_THAT(found, ContainsSubstring("unknown key \"descripton\""));
  CHECK_THAT(found, ContainsSubstring("nodes must be an integer from 1"));
  CHECK_THAT(found, ContainsSubstring("unknown calibration \"nobody\""));
  CHECK_THAT(found, ContainsSubstring("unknown GPU \"rtx-3091\""));
  CHECK_THAT(found, ContainsSubstring("node.host.cores must be an integer"));
  CHECK_THAT(found, ContainsSubstring("unknown link \"pcie9\""));
  CHECK_THAT(found, ContainsSubstring("box.toml:20:10: error: there is no device \"gpu9\" in the node"));
  CHECK_THAT(found, ContainsSubstring("fabric.link must be a network link, pcie4_x16 is not"));
  CHECK_THAT(found, ContainsSubstring("storage.nfs.latency"));
  CHECK_THAT(found, ContainsSubstring("unknown site.batch_system \"slrum\""));
  CHECK_THAT(found, ContainsSubstring("10 errors"));
}

TEST_CASE("a wrong node does not hide what its fabric lacks, nor a wrong fabric what the node lacks") {
  const std::string fabric = "[fabric]\nkind = \"fat_tree\"\nlink = \"ib_hdr\"\nuplinks_per_leaf = 2\n";
  const std::string node =
      with(with(kTwoCards, "gpus = 2", "gpus = 2\nnics_at = [\"cpu0\"]\nnic_link = \"pcie4_x16\""),
           "nodes = 1", "nodes = 2");
  const std::string both = mistakes_in(with(node, "rtx-3090", "rtx-3091") + fabric);
  CHECK_THAT(both, ContainsSubstring("unknown GPU"));
  CHECK_THAT(both, ContainsSubstring("a fat_tree needs nodes_per_leaf"));
  CHECK_THAT(both, ContainsSubstring("2 errors"));
  const std::string other =
      mistakes_in(with(node, ", [\"gpu1\", \"cpu0\"]", "") + with(fabric, "ib_hdr", "ib_hhr"));
  CHECK_THAT(other, ContainsSubstring("unknown link \"ib_hhr\""));
  CHECK_THAT(other, ContainsSubstring("2 errors") || !ContainsSubstring("cannot be reached"));
}

TEST_CASE("NVLinks slower than the PCIe beside them are a doubt about their count") {
  const auto doubts = doubts_of(kTwoCards);
  REQUIRE(doubts.size() == 1);
  CHECK_THAT(doubts[0],
             ContainsSubstring("the NVLinks of gpu0 carry 12 GBps in sum, less than the 26.3 GBps"));
  CHECK_THAT(doubts[0], ContainsSubstring("was `count` forgotten"));
  CHECK(doubts_of(with(kTwoCards, "_bridge\"\n", "_bridge\"\ncount = 4\n")).empty());
}

TEST_CASE("relative paths in files are relative to the file, those of the command line to the folder") {
  test::use_source_catalogs();
  const fs::path top = fs::temp_directory_path() / ("foretrain-paths-" + std::to_string(::getpid()));
  fs::create_directories(top / "parts");
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(top / name) << text;
  };
  std::ifstream card(std::string(FORETRAIN_SOURCE_DIR) + "/topologies/gpus/rtx-3090.toml");
  write("parts/card.toml", std::string(std::istreambuf_iterator<char>(card), {}));
  write("parts/box.toml", with(kTwoCards, "\"rtx-3090\"", "\"./card.toml\""));
  write("net.toml", "input = [8]\nlayers = [{ type = \"linear\", out = 2 }, { type = \"loss\" }]\n");
  const std::string text =
      "[model]\nname = \"net.toml\"\n[cluster]\nname = \"parts/box.toml\"\n[run]\ngpus = [1]\n";
  write("question.toml", text);
  const SourceText source{(top / "question.toml").string(), text};
  const Scenario scenario = read_scenario(source, {});
  CHECK(scenario.model.name == "net");
  CHECK(scenario.cluster.node.gpu.name == "card");
  ScenarioOverrides typed;
  typed.model = "net.toml";
  CHECK_THROWS_WITH(read_scenario(source, typed), ContainsSubstring("net.toml does not exist"));
  typed.model = (top / "net.toml").string();
  CHECK(read_scenario(source, typed).model.name == "net");
  fs::remove_all(top);
}

}  // namespace cluster_mistakes_test
