// Tests of the cluster file: node, links, fabric, names of the catalogs, and every mistake at its place.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/fat_tree.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"

namespace schema_cluster_test {

using namespace foretrain;

namespace {

// Line numbers of the tests below count in this text.
const std::string kCluster = R"(description = "two sockets"
nodes = 24
[node]
gpus = 2
gpu = "v100-sxm2-32gb"
cpus = 2
nics = 1
peer_access = false
[node.host]
cpu = "2x Xeon"
cores = 40
slowdown = 2.0
memory = "384 GiB"
memory_bandwidth = "8 GBps"
[[node.links]]
link = "nvlink2"
count = 2
mesh = ["gpu0", "gpu1"]
[[node.links]]
link = "pcie3_x16"
pairs = [["gpu0", "cpu0"], ["gpu1", "cpu1"], ["nic0", "cpu0"]]
[[node.links]]
link = "upi_10_4"
pairs = [["cpu0", "cpu1"]]
[fabric]
kind = "fat_tree"
link = "ib_hdr100"
switch_latency = "0.3 us"
nodes_per_leaf = 20
uplinks_per_leaf = 10
uplink = "ib_hdr"
)";

struct ReadCluster {
  ClusterSpec spec;
  std::string errors;
};

ReadCluster read(const std::string& text) {
  const SourceText source{"box.toml", text};
  Diagnostics diagnostics(source);
  ClusterSpec spec = read_cluster(source, diagnostics);
  return {spec, format(diagnostics.found())};
}

std::string with(const std::string& line, const std::string& instead, std::string text = kCluster) {
  const std::size_t at = text.find(line);
  REQUIRE(at != std::string::npos);
  return text.replace(at, line.size(), instead);
}

/// A folder of its own for one test, removed afterwards.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = (path_ / name).string();
    std::ofstream(path) << text;
    return path;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("a cluster file gives node, host and fabric") {
  const auto [spec, errors] = read(kCluster);
  REQUIRE(errors.empty());
  CHECK(spec.name == "box");
  CHECK(spec.description == "two sockets");
  CHECK(spec.nodes == 24);
  CHECK(spec.node.gpus == 2);
  CHECK(spec.node.cpus == 2);
  CHECK(spec.node.switches == 0);
  CHECK(spec.node.nics == 1);
  CHECK_FALSE(spec.node.peer_access);
  CHECK(spec.node.host.cpu == "2x Xeon");
  CHECK(spec.node.host.cores == 40);
  CHECK(spec.node.host.slowdown == 2.0);
  CHECK(spec.node.host.memory.count == 384LL << 30);
  CHECK(spec.node.host.memory_bandwidth.per_second == Approx(8e9));
  CHECK(spec.fabric.kind == "fat_tree");
  CHECK(spec.fabric.link.name == "ib_hdr100");
  CHECK(spec.fabric.uplink.name == "ib_hdr");
  CHECK(spec.fabric.switch_latency == microseconds(0.3));
  CHECK(spec.fabric.get<FatTree>().nodes_per_leaf == 20);
  CHECK(spec.fabric.get<FatTree>().uplinks_per_leaf == 10);
  CHECK(spec.fabric.span.line == 25);
}

TEST_CASE("GPU and links are looked up in the catalogs") {
  const ClusterSpec spec = read(kCluster).spec;
  CHECK(spec.node.gpu.name == "v100-sxm2-32gb");
  CHECK(spec.node.gpu.memory.count == 32'000'000'000);
  REQUIRE(spec.node.links.size() == 5);  // 1 in the mesh of two, 3 + 1 pairs
  const NodeLink& nvlink = spec.node.links[0];
  CHECK(nvlink.a == "gpu0");
  CHECK(nvlink.b == "gpu1");
  CHECK(nvlink.count == 2);
  CHECK(nvlink.type.kind == LinkKind::nvlink);
  CHECK(nvlink.span.line == 18);
  CHECK(spec.node.links[3].a == "nic0");
  CHECK(spec.node.links[3].span == SourceSpan{21, 46, 16});
  CHECK(spec.node.links[4].type.kind == LinkKind::socket);
}

TEST_CASE("a mesh of n devices is n(n-1)/2 links") {
  const std::string eight =
      with("gpus = 2", "gpus = 8",
           with(R"(mesh = ["gpu0", "gpu1"])",
                R"(mesh = ["gpu0", "gpu1", "gpu2", "gpu3", "gpu4", "gpu5", "gpu6", "gpu7"])"));
  const ClusterSpec spec = read(eight).spec;
  std::size_t nvlinks = 0;
  for (const NodeLink& link : spec.node.links) nvlinks += link.type.kind == LinkKind::nvlink ? 1 : 0;
  CHECK(nvlinks == 28);  // 8 * 7 / 2
}

TEST_CASE("what a cluster file leaves out has its default") {
  const ClusterSpec spec = read(with("peer_access = false\n", "", with("uplink = \"ib_hdr\"\n", ""))).spec;
  CHECK(spec.node.peer_access);
  CHECK(spec.node.switches == 0);
  CHECK(spec.node.nvswitches == 0);
  CHECK(spec.fabric.uplink.bandwidth.per_second == 0);  // the fat tree then uses `link`
}

TEST_CASE("one node needs no fabric") {
  const auto [spec, errors] =
      read(with("nodes = 24", "nodes = 1", kCluster.substr(0, kCluster.find("[fabric]"))));
  CHECK(errors.empty());
  CHECK(spec.fabric.kind == "none");
}

TEST_CASE("several nodes without a fabric are reported at their number") {
  CHECK(read(kCluster.substr(0, kCluster.find("[fabric]"))).errors ==
        "box.toml:2:9: error: more than one node needs a fabric\n"
        "  2 | nodes = 24\n"
        "    |         ^^\n"
        "  hint: add a fabric table with kind = \"star\" or \"fat_tree\" and the link of a NIC\n");
}

TEST_CASE("a fat tree's missing parameters are reported at the fabric") {
  CHECK(read(with("nodes_per_leaf = 20\n", "", with("uplinks_per_leaf = 10\n", ""))).errors ==
        "box.toml:25:1: error: a fat_tree needs nodes_per_leaf\n"
        "  25 | [fabric]\n"
        "     | ^^^^^^^^\n"
        "  hint: nodes_per_leaf = 18 puts 18 nodes under every leaf switch\n"
        "box.toml:25:1: error: a fat_tree needs uplinks_per_leaf\n"
        "  25 | [fabric]\n"
        "     | ^^^^^^^^\n"
        "  hint: uplinks_per_leaf = 18 makes 18 spine switches, one link from every leaf to each\n"
        "2 errors\n");
}

TEST_CASE("an unknown GPU, link and fabric are reported where they stand, with a suggestion") {
  CHECK(read(with("v100-sxm2-32gb", "v100-smx2-32gb",
                  with("upi_10_4", "upi_1O_4", with("\"fat_tree\"", "\"fat_treee\""))))
            .errors ==
        "box.toml:5:7: error: unknown GPU \"v100-smx2-32gb\"\n"
        "  5 | gpu = \"v100-smx2-32gb\"\n"
        "    |       ^^^^^^^^^^^^^^^^\n"
        "  hint: did you mean \"v100-sxm2-32gb\", \"v100-sxm3-32gb\" or \"v100-sxm2-16gb\"?\n"
        "box.toml:23:8: error: unknown link \"upi_1O_4\"\n"
        "  23 | link = \"upi_1O_4\"\n"
        "     |        ^^^^^^^^^^\n"
        "  hint: did you mean \"upi_10_4\"?\n"
        "box.toml:26:8: error: unknown fabric.kind \"fat_treee\"\n"
        "  26 | kind = \"fat_treee\"\n"
        "     |        ^^^^^^^^^^^\n"
        "  hint: did you mean \"fat_tree\"?\n"
        "3 errors\n");
}

TEST_CASE("a device that the node does not have is reported at the pair that names it") {
  CHECK(read(with("[\"gpu1\", \"cpu1\"]", "[\"gpu2\", \"cpu1\"]")).errors ==
        "box.toml:21:28: error: there is no device \"gpu2\" in the node\n"
        "  21 | pairs = [[\"gpu0\", \"cpu0\"], [\"gpu2\", \"cpu1\"], [\"nic0\", \"cpu0\"]]\n"
        "     |                            ^^^^^^^^^^^^^^^^\n"
        "  hint: did you mean \"gpu0\", \"gpu1\" or \"cpu0\"?\n");
}

TEST_CASE("a GPU that nothing reaches is reported at the node") {
  const std::string text = with("[\"gpu1\", \"cpu1\"], ", "");
  CHECK(read(text).errors ==
        "box.toml:3:1: error: gpu1 cannot be reached from cpu0\n"
        "  3 | [node]\n"
        "    | ^^^^^^\n"
        "  hint: connect gpu1 by PCIe to cpu0 or to a switch that leads there\n");
}

TEST_CASE("mesh and pairs exclude each other, and one of them is needed") {
  const std::string hint =
      "  hint: mesh = [\"gpu0\", \"gpu1\"] links every pair, pairs = [[\"gpu0\", \"cpu0\"]] the pairs "
      "named\n";
  CHECK(read(with("mesh = [\"gpu0\", \"gpu1\"]\n", "")).errors ==
        "box.toml:15:1: error: a group of links needs mesh or pairs\n"
        "  15 | [[node.links]]\n"
        "     | ^^^^^^^^^^^^^^\n" +
            hint);
  CHECK(read(with("count = 2\n", "pairs = [[\"gpu0\", \"gpu1\"]]\n")).errors ==
        "box.toml:15:1: error: a group of links has mesh or pairs, not both\n"
        "  15 | [[node.links]]\n"
        "     | ^^^^^^^^^^^^^^\n" +
            hint);
}

TEST_CASE("a pair is two names") {
  CHECK(read(with("[\"gpu0\", \"cpu0\"], ", "[\"gpu0\"], ")).errors ==
        "box.toml:21:10: error: a pair is two device names\n"
        "  21 | pairs = [[\"gpu0\"], [\"gpu1\", \"cpu1\"], [\"nic0\", \"cpu0\"]]\n"
        "     |          ^^^^^^^^\n"
        "  hint: as in [\"gpu0\", \"cpu0\"]\n");
}

TEST_CASE("counts and factors have ranges") {
  const std::string text =
      with("nodes = 24", "nodes = 100001",
           with("gpus = 2", "gpus = 65",
                with("cores = 40", "cores = 0", with("slowdown = 2.0", "slowdown = 21"))));
  CHECK(read(text).errors ==
        "box.toml:2:9: error: nodes must be an integer from 1 to 100000\n"
        "  2 | nodes = 100001\n"
        "    |         ^^^^^^\n"
        "box.toml:4:8: error: node.gpus must be an integer from 1 to 64\n"
        "  4 | gpus = 65\n"
        "    |        ^^\n"
        "box.toml:11:9: error: node.host.cores must be an integer from 1 to 1024\n"
        "  11 | cores = 0\n"
        "     |         ^\n"
        "box.toml:12:12: error: node.host.slowdown must be a number from 0.1 to 20\n"
        "  12 | slowdown = 21\n"
        "     |            ^^\n"
        "4 errors\n");
}

TEST_CASE("the host's own speed must be stated: a copy at no rate would take for ever") {
  CHECK(read(with("8 GBps", "0 GBps", with("slowdown = 2.0\n", ""))).errors ==
        "box.toml:9:1: error: node.host.slowdown is missing\n"
        "  9 | [node.host]\n"
        "    | ^^^^^^^^^^^\n"
        "  hint: add slowdown = 2.0\n"
        "box.toml:13:20: error: node.host.memory_bandwidth must be more than zero\n"
        "  13 | memory_bandwidth = \"0 GBps\"\n"
        "     |                    ^^^^^^^^\n"
        "2 errors\n");
}

TEST_CASE("the fabric takes network links only") {
  CHECK(read(with("\"ib_hdr100\"", "\"pcie3_x16\"")).errors ==
        "box.toml:27:8: error: fabric.link must be a network link, pcie3_x16 is not\n"
        "  27 | link = \"pcie3_x16\"\n"
        "     |        ^^^^^^^^^^^\n"
        "  hint: such as ib_hdr or eth_100_tcp\n");
}

TEST_CASE("a node has at most 4096 links") {
  std::string pairs = "pairs = [";
  for (int i = 0; i < 4097; ++i) pairs += R"(["gpu0", "cpu0"], )";
  const std::string errors = read(with(R"(pairs = [["cpu0", "cpu1"]])", pairs + "]")).errors;
  CHECK_THAT(errors,
             ContainsSubstring(
                 "box.toml:24:9: error: node.links.pairs has 4097 entries, at most 4096 are allowed\n"));
}

TEST_CASE("an empty cluster file misses nodes and node") {
  CHECK(read("\n").errors ==
        "box.toml: error: nodes is missing\n"
        "  hint: add nodes = 24\n"
        "box.toml: error: node is missing\n"
        "  hint: add [node]\n"
        "2 errors\n");
}

TEST_CASE("a name with a slash is a path, and mistakes of that file are shown under its name") {
  const TemporaryFolder folder("foretrain_schema_cluster_test");
  const std::string path = folder.write("mine.toml", "kind = \"nvlink\"\nbandwidth = 25\n");
  CHECK(read(with("\"nvlink2\"", "\"" + path + "\"")).errors ==
        path +
            ":2:13: error: bandwidth is a bandwidth and needs its unit, as in \"25 GBps\"\n"
            "  2 | bandwidth = 25\n"
            "    |             ^^\n");
  folder.write("mine.toml", "kind = \"nvlink\"\nbandwidth = \"25 GBps\"\n");
  const auto [spec, errors] = read(with("\"nvlink2\"", "\"" + path + "\""));
  CHECK(errors.empty());
  CHECK(spec.node.links[0].type.name == "mine");
}

TEST_CASE("a part's file that does not exist is reported at its name") {
  CHECK(read(with("\"nvlink2\"", "\"./no_such_link.toml\"")).errors ==
        "box.toml:16:8: error: ./no_such_link.toml does not exist\n"
        "  16 | link = \"./no_such_link.toml\"\n"
        "     |        ^^^^^^^^^^^^^^^^^^^^^\n");
}

}  // namespace schema_cluster_test
