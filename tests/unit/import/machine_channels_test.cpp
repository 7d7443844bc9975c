// Machines that are read from their own tools' files against the catalog's, which were written by hand: the
// same channels of NCCL, and all-reduces that take as long, from 1 KiB to 1 GiB.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "sim/cluster/cluster.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/collective/nccl/job.hpp"
#include "sim/import/machines/graph_check.hpp"
#include "sim/import/machines/machine_cluster.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"

namespace machine_channels_test {

using namespace foretrain;
namespace fs = std::filesystem;

namespace {

const fs::path kSamples = FORETRAIN_SOURCE_DIR "/../shared/samples";

ClusterSpec imported(const std::string& name, const std::string& text, ImportAnswers answers) {
  return read_or_throw(SourceText{name, cluster_of(read_machine({name, text}), answers).text}, read_cluster);
}

ClusterSpec imported_file(const fs::path& path, const ImportAnswers& answers = {}) {
  std::ifstream in(path, std::ios::binary);
  return imported(path.filename().string(), {std::istreambuf_iterator<char>(in), {}}, answers);
}

/// The GPUs at the same place as an adapter: numbers of adapters are nobody's choice.
std::string place_of_nic(const NodeSpec& node, int nic) {
  if (nic < 0) return "";
  const std::string name = fmt::format("nic{}", nic);
  std::string place, gpus;
  for (const NodeLink& link : node.links) {
    if (link.a == name || link.b == name) place = link.a == name ? link.b : link.a;
  }
  // Ports of one card have a switch of their own.
  for (const NodeLink& link : node.links) {
    if (place.starts_with("switch") && link.a == place && link.b.starts_with("switch")) place = link.b;
  }
  for (const NodeLink& link : node.links) {
    if (link.b == place && link.a.starts_with("gpu")) gpus += link.a + " ";
  }
  return "beside " + gpus;
}

/// "12 channels of 21 GB/s over NVL: 0 1 2 3 | …"
std::string channels_of(const nccl::GraphResult& graph, const NodeSpec& node) {
  std::string out =
      fmt::format("{} {} of {} / {} over {} {}:", name_of(graph.pattern), graph.channels, graph.bw_intra,
                  graph.bw_inter, name_of(graph.type_intra), name_of(graph.type_inter));
  for (const nccl::ChannelPath& path : graph.paths)
    out += fmt::format(" {}>{}>{}", place_of_nic(node, path.nic_in), fmt::join(path.gpus, " "),
                       place_of_nic(node, path.nic_out));
  return out;
}

nccl::Job job_of(ClusterSpec spec, int nodes) {
  spec.nodes = std::max(spec.nodes, nodes);
  return nccl::inspect(Cluster::build(spec, nodes), place_packed(nodes * spec.node.gpus, spec.node.gpus));
}

double all_reduce_s(ClusterSpec spec, int nodes, std::int64_t bytes) {
  spec.nodes = std::max(spec.nodes, nodes);
  const Cluster cluster = Cluster::build(spec, nodes);
  const Placement placement = place_packed(nodes * spec.node.gpus, spec.node.gpus);
  return to_seconds(Communicator(cluster, placement).plan(CollectiveOp::all_reduce, Bytes{bytes}).alone);
}

void check_alike(const ClusterSpec& read, const ClusterSpec& written, int nodes) {
  const nccl::Job one = job_of(read, nodes), other = job_of(written, nodes);
  INFO(nodes << " nodes");
  CHECK(channels_of(one.shapes.front().ring, read.node) ==
        channels_of(other.shapes.front().ring, written.node));
  CHECK(channels_of(one.shapes.front().tree, read.node) ==
        channels_of(other.shapes.front().tree, written.node));
  CHECK(one.coll_channels == other.coll_channels);
  for (std::int64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 2) {
    INFO(bytes << " bytes");
    CHECK(all_reduce_s(read, nodes, bytes) == Approx(all_reduce_s(written, nodes, bytes)).epsilon(0.05));
  }
}

/// A DGX-1 as NCCL writes it: two GPUs and an adapter behind each switch, six NVLinks per GPU.
std::string dgx1_topology() {
  constexpr int kLinks[8][8] = {{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0},
                                {2, 1, 2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
                                {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
  const auto bus = [](int gpu) { return fmt::format("0000:{:02x}:00.0", 0x10 * (gpu + 1)); };
  std::string out = "<system version=\"1\">\n";
  for (int gpu = 0; gpu < 8; ++gpu) {
    if (gpu % 4 == 0)
      out += fmt::format(
          "<cpu numaid=\"{}\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"79\">\n",
          gpu / 4);
    const std::string lanes = "link_speed=\"8 GT/s\" link_width=\"16\"";
    if (gpu % 2 == 0)
      out += fmt::format(
          "<pci busid=\"0000:{:02x}:00.0\" class=\"0x060400\" vendor=\"0x10b5\" device=\"0x9797\" {}>\n",
          0x10 * (gpu + 1) - 1, lanes);
    out += fmt::format(
        "<pci busid=\"{}\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x1db1\" {}>"
        "<gpu dev=\"{}\" sm=\"70\" rank=\"{}\" gdr=\"1\">",
        bus(gpu), lanes, gpu, gpu);
    for (int other = 0; other < 8; ++other) {
      if (kLinks[gpu][other] > 0)
        out += fmt::format("<nvlink target=\"{}\" count=\"{}\" tclass=\"0x030200\"/>", bus(other),
                           kLinks[gpu][other]);
    }
    out += "</gpu></pci>\n";
    if (gpu % 2 == 0) continue;
    out += fmt::format(
        "<pci busid=\"0000:{:02x}:00.0\" class=\"0x020700\" vendor=\"0x15b3\" device=\"0x1013\" {}><nic>"
        "<net name=\"mlx5_{}\" dev=\"{}\" speed=\"100000\" port=\"1\" gdr=\"1\"/></nic></pci></pci>\n",
        0x10 * (gpu + 1) + 1, lanes, gpu / 2, gpu / 2);
    if (gpu % 4 == 3) out += "</cpu>\n";
  }
  return out + "</system>\n";
}

}  // namespace

TEST_CASE("a DGX-1 read from NCCL's XML has the channels and all-reduces of the catalog's") {
  const ClusterSpec read = imported("dgx1.xml", dgx1_topology(), {});
  for (const int nodes : {1, 2}) check_alike(read, open_cluster("dgx1-v100"), nodes);
}

TEST_CASE("a DGX A100 read from its own dump has the channels and all-reduces of the catalog's") {
  if (!fs::is_directory(kSamples / "nccl_topo")) FORETRAIN_SKIP("../shared/samples is not there");
  const ClusterSpec read = imported_file(kSamples / "nccl_topo/dgx_a100_full_dump.xml");
  for (const int nodes : {1, 2}) check_alike(read, open_cluster("dgx-a100"), nodes);
}

TEST_CASE("an ND A100 v4 read from Azure's file has the channels and all-reduces of the catalog's") {
  if (!fs::is_directory(kSamples / "nccl_topo")) FORETRAIN_SKIP("../shared/samples is not there");
  const ClusterSpec read = imported_file(kSamples / "nccl_topo/azure_ndv4_8xA100.xml");
  for (const int nodes : {1, 2}) check_alike(read, open_cluster("azure-ndv4"), nodes);
}

TEST_CASE("a DGX-1 read from nvidia-smi topo -m has the channels and all-reduces of the catalog's") {
  if (!fs::is_directory(kSamples / "nvidia_smi")) FORETRAIN_SKIP("../shared/samples is not there");
  const ClusterSpec read =
      imported_file(kSamples / "nvidia_smi/dgx1_v100_4ib_msccl.txt", {"v100-sxm2-16gb", 0, 0, ""});
  for (const int nodes : {1, 2}) check_alike(read, open_cluster("dgx1-v100"), nodes);
}

TEST_CASE("NCCL's graph beside a topology says where our channels are its, and where not") {
  const auto check = [](const std::string& graph) {
    Machine machine = read_machine({"dgx1.xml", dgx1_topology()});
    const Machine dump = read_machine({"graph.xml", "<graphs version=\"1\">" + graph + "</graphs>"});
    return cluster_of(joined({machine, dump}), {}).checks;
  };
  const nccl::Job job = job_of(open_cluster("dgx1-v100"), 1);
  const nccl::GraphResult& ring = job.shapes.front().ring;
  const auto written = [&](int channels, double rate, bool reversed) {
    std::string out = fmt::format(
        "<graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"{}\" speedintra=\"{}\" speedinter=\"{}\" "
        "typeintra=\"NVL\" typeinter=\"PIX\" samechannels=\"0\">",
        channels, rate, rate);
    for (int i = 0; i < channels; ++i) {
      std::vector<int> gpus = ring.paths[static_cast<std::size_t>(i)].gpus;
      std::rotate(gpus.begin(), gpus.begin() + 3, gpus.end());  // a ring begins anywhere
      if (reversed) std::reverse(gpus.begin(), gpus.end()), std::swap(gpus[0], gpus[2]);
      out += "<channel>";
      for (const int gpu : gpus) out += fmt::format("<gpu dev=\"{}\"/>", gpu);
      out += "</channel>";
    }
    return out + "</graph>";
  };
  const int channels = ring.channels;
  const auto same = check(written(channels, ring.bw_intra, false));
  REQUIRE(same.size() == 2);
  CHECK_THAT(same[0], ContainsSubstring(fmt::format("ring: channels {} alike", channels)) &&
                          ContainsSubstring(fmt::format("order of {0} of {0} channels alike", channels)));
  const auto other = check(written(channels - 1, ring.bw_intra / 2, true));
  CHECK_THAT(other[0], ContainsSubstring(fmt::format("channels {}, ours {}", channels - 1, channels)) &&
                           ContainsSubstring("rate of each") && ContainsSubstring("GB/s, ours"));
  CHECK_THAT(other[0], ContainsSubstring(fmt::format("order of 0 of {}", channels - 1)));
  CHECK_THROWS_WITH(joined({read_machine({"graph.xml", "<graphs>" + written(1, 1, false) + "</graphs>"})}),
                    ContainsSubstring("no machine that they are of"));
}

}  // namespace machine_channels_test
