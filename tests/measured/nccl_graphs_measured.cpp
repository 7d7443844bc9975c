// The channels our search finds on catalogued nodes against the graphs real NCCL runs printed
// (docs/measured/nccl_graphs.csv).
#include <functional>

#include <fmt/format.h>

#include "sim/collective/nccl/graph_search.hpp"
#include "sim/collective/nccl/job.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/measured/known_misses.hpp"
#include "tests/measured/nccl_printed.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace nccl_graphs_measured {

using namespace foretrain;
using test::connect;
using test::PrintedRow;

namespace {

ClusterSpec catalogued(const std::string& name) {
  const SourceText text = open_named(CatalogKind::clusters, name).value();
  Diagnostics diagnostics(text);
  ClusterSpec spec = read_cluster(text, diagnostics);
  CHECK(diagnostics.empty());
  return spec;
}

LinkType pcie4() { return test::link_type("pcie4_x16", LinkKind::pcie, 24, 1); }
LinkType hdr() { return test::link_type("ib_hdr", LinkKind::network, 25, 1); }

/// Two A100 PCIe on one CPU, joined by three NVLink bridges of four links.
ClusterSpec bridged_pair() {
  ClusterSpec spec = test::plain_node(2, test::a100());
  spec.node.links = {connect("gpu0", "cpu0", pcie4()), connect("gpu1", "cpu0", pcie4()),
                     connect("gpu0", "gpu1", test::nvlink3(), 12)};
  return spec;
}

/// The log says two V100 SXM2 that reach each other over the socket link, and 25 Gb/s NICs. One NIC per
/// socket and no NVLink between these two is what its graph needs (assumed).
ClusterSpec two_sockets_25g() {
  ClusterSpec spec;
  spec.nodes = 2;
  spec.node.gpus = 2, spec.node.cpus = 2, spec.node.nics = 2;
  spec.node.gpu = test::v100(), spec.node.host = test::test_host();
  spec.node.gpudirect = false;
  const LinkType pcie = test::link_type("pcie3_x16", LinkKind::pcie, 12, 1);
  for (const char* side : {"0", "1"}) {
    const std::string cpu = std::string("cpu") + side;
    spec.node.links.push_back(connect(std::string("gpu") + side, cpu, pcie));
    spec.node.links.push_back(connect(std::string("nic") + side, cpu, pcie));
  }
  spec.node.links.push_back(connect("cpu0", "cpu1", test::upi()));
  spec.fabric = test::star_fabric(test::link_type("eth_25", LinkKind::network, 3.125, 1));
  return spec;
}

/// Dell XE8545: the four-GPU A100 board with two HDR adapters, one per socket (assumed).
ClusterSpec xe8545() {
  ClusterSpec spec = test::mesh_node(4, test::a100(), test::nvlink3(), 4);
  spec.nodes = 2;
  spec.node.cpus = 2, spec.node.nics = 2;
  spec.node.host.family = HostFamily::amd;
  for (NodeLink& link : spec.node.links) {
    if (link.type.kind == LinkKind::pcie) link = connect(link.a, link.a < "gpu2" ? "cpu0" : "cpu1", pcie4());
  }
  for (const char* side : {"0", "1"})
    spec.node.links.push_back(connect(std::string("nic") + side, std::string("cpu") + side, pcie4()));
  spec.node.gpudirect_reach = PathClass::phb;
  spec.fabric = test::star_fabric(hdr());
  return spec;
}

/// A printed run: its cluster, and what its log shows of the run's settings.
struct PrintedRun {
  std::function<ClusterSpec()> cluster;
  nccl::Settings settings{};
};

std::function<ClusterSpec()> from_catalog(const char* name) {
  return [name] { return catalogued(name); };
}

nccl::Settings with_channels(int most) {
  nccl::Settings settings;
  settings.max_channels = most;
  return settings;
}

/// 24 channels on eight rails are the 16 of the rings and half as many again for CollNet: the runs had SHARP.
ClusterSpec ndv4_with_sharp() {
  ClusterSpec spec = catalogued("azure-ndv4");
  spec.fabric.in_network_reduction = true;
  return spec;
}

nccl::Settings with_collnet() {
  nccl::Settings settings;
  settings.collnet = true;
  return settings;
}

const std::map<std::string, PrintedRun>& runs() {
  static const std::map<std::string, PrintedRun> kRuns{
      {"a100pcie_nvlbridge_1x2", {bridged_pair}},
      {"a100pcie_nvlbridge_1x2_1ch", {bridged_pair, with_channels(2)}},
      {"a100sxm_1x3", {from_catalog("hgx-a100-80gb")}},
      {"v100_2x2_25g", {two_sockets_25g}},
      {"a100pcie_1x2_sys", {from_catalog("a100-pcie-2gpu-sys")}},
      {"a100pcie_2x1_hdr", {from_catalog("ex3-a100-1gpu")}},
      {"h100_p5_2x8_220", {from_catalog("aws-p5")}},
      {"h100_p5_2x8_222", {from_catalog("aws-p5")}},
      {"h100_snellius_1x4", {from_catalog("snellius-h100")}},
      {"h100_snellius_2x4", {from_catalog("snellius-h100")}},
      {"a100_perlmutter_2x4", {from_catalog("perlmutter")}},
      {"a100_p4d_2x8", {from_catalog("aws-p4d")}},
      {"v100_jeanzay_1x4", {from_catalog("jean-zay-v100")}},
      {"v100_jeanzay_16x4", {from_catalog("jean-zay-v100")}},
      {"a100_b5_1x4", {from_catalog("hgx-a100-80gb")}},
      {"a100_ndv4_1x8", {from_catalog("azure-ndv4")}},
      {"a100_ndv4_2x8", {ndv4_with_sharp, with_collnet()}},
      {"a100_ndv4_4x8", {ndv4_with_sharp, with_collnet()}},
      {"a100_ndv4_8x8", {ndv4_with_sharp, with_collnet()}},
      {"a100_ndv4_16x8", {ndv4_with_sharp, with_collnet()}},
      {"a100_xe8545_1x4", {xe8545}},
      {"a100_xe8545_2x4", {xe8545}},
  };
  return kRuns;
}

Placement first_gpus(int per_node, int nodes) {
  Placement placement;
  placement.nodes = nodes;
  for (int node = 0; node < nodes; ++node) {
    for (int gpu = 0; gpu < per_node; ++gpu) placement.ranks.push_back({node, gpu});
  }
  return placement;
}

/// NCCL searches and prints CollNet's chain even where nothing reduces; over a network only with a plug-in
/// that does.
nccl::GraphResult chain_graph(const ClusterSpec& spec, const nccl::Job& job) {
  if (job.input.job.nodes > 1) return {};
  const nccl::NodeMap map =
      nccl::NodeMap::build({spec.node, spec.fabric.link, job.shapes[0].gpus, false, job.settings});
  const int rings = job.shapes[0].ring.channels;
  return nccl::search_graph(
      map, {nccl::Pattern::tree, rings, rings, job.settings.cross_nic, job.settings.version});
}

/// What a printed row and our job say differently; empty when nothing.
class Differences {
 public:
  void compare(const char* what, double ours, const std::string& printed) {
    if (!printed.empty())
      note(ours == std::stod(printed), fmt::format("{} {} (printed {}) ", what, ours, printed));
  }
  void compare(const char* what, std::string_view ours, const std::string& printed) {
    note(ours == printed, fmt::format("{} {} (printed {}) ", what, ours, printed));
  }
  const std::string& text() const { return text_; }
  int compared() const { return compared_; }
  int same() const { return same_; }

 private:
  void note(bool is_same, const std::string& text) {
    ++compared_;
    if (is_same) return void(++same_);
    text_ += text;
  }
  std::string text_;
  int compared_ = 0, same_ = 0;
};

Differences differences(const PrintedRow& row, const ClusterSpec& spec, const nccl::Job& job,
                        bool is_collnet) {
  Differences found;
  found.compare("coll", job.coll_channels, row.at("coll_channels"));
  found.compare("nvls", job.nvls_channels, row.at("nvls_channels"));
  found.compare("p2p", job.p2p_channels, row.at("p2p_channels"));
  found.compare("p2p per peer", job.p2p_per_peer, row.at("p2p_per_peer"));
  if (row.at("pattern").empty()) return found;
  const nccl::GraphResult graph = is_collnet                    ? chain_graph(spec, job)
                                  : row.at("pattern") == "ring" ? job.shapes[0].ring
                                                                : job.shapes[0].tree;
  const int most = job.settings.max_channels;
  found.compare("channels", most > 0 ? std::min(graph.channels, most / 2) : graph.channels,
                row.at("n_channels"));
  found.compare("intra", graph.bw_intra, row.at("bw_intra"));
  found.compare("inter", graph.bw_inter, row.at("bw_inter"));
  if (graph.channels == 0) return found;
  found.compare("path", name_of(graph.type_intra), row.at("type_intra"));
  found.compare("path to NIC", name_of(graph.type_inter), row.at("type_inter"));
  return found;
}

}  // namespace

// docs/models/collectives.md says why the listed rows differ.
TEST_CASE("channels and their speeds are those of the graphs NCCL printed, but for known misses") {
  std::vector<test::Figure> figures;
  std::string texts;
  std::map<std::string, int> seen;
  for (const PrintedRow& row : test::printed_rows("nccl_graphs.csv")) {
    const std::string& id = row.at("id");
    const PrintedRun& run = runs().at(id);
    const ClusterSpec spec = run.cluster();
    const int nodes = std::stoi(row.at("nodes"));
    nccl::Settings settings = run.settings;
    settings.version = nccl::parse_version(row.at("nccl_version")).value();
    const nccl::Job job = nccl::inspect(Cluster::build(spec, nodes),
                                        first_gpus(std::stoi(row.at("gpus_per_node")), nodes), settings);
    const bool third = ++seen[id] == 3;
    const Differences found = differences(row, spec, job, third);
    const std::string key = fmt::format("{} {}", id,
                                        row.at("pattern").empty() ? "channels"
                                        : third                   ? "CollNet's chain"
                                                                  : row.at("pattern"));
    figures.push_back(
        test::Figure::within(fmt::format("values of {}", key), found.compared(), found.same(), 0));
    if (!found.text().empty()) texts += fmt::format("{}: {}\n", key, found.text());
  }
  INFO(texts);
  CHECK(figures.size() == 31);
  test::check_figures("nccl_graphs_measured/printed graphs", figures);
}

}  // namespace nccl_graphs_measured
