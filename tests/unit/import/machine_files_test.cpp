// Every file of ../shared/samples that describes a machine against a table that was written by reading it:
// matrices by eye, XML by grep; and every other file of the samples by what it says.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "sim/cluster/cluster.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/import/machines/machine_cluster.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"

namespace machine_files_test {

using namespace foretrain;
namespace fs = std::filesystem;

namespace {

const fs::path kSamples = FORETRAIN_SOURCE_DIR "/../shared/samples";

// file: GPUs, adapters, NVLinks of gpu0, PCIe switches, sockets. Adapters are ports; those that share a slot
// are below one switch. NVLinks that a file does not tell are those of the board that is assumed; AMD's count
// twice, as the catalog's links are halves.
constexpr const char* kExpected = R"(
nccl_topo/aws_p4d_8xA100.xml: 8 4 12 4 2
nccl_topo/aws_p4de_8xA100.xml: 8 4 12 4 2
nccl_topo/nemo_aws_p4d.xml: 8 4 12 4 2
nccl_topo/azure_ndv2_8xV100.xml: 8 1 12 0 2
nccl_topo/azure_ndv4_8xA100.xml: 8 8 12 4 4
nccl_topo/azure_ndv4_8xA100_azurehpc2022.xml: 8 8 12 4 4
nccl_topo/azure_ndv4_superbench.xml: 8 8 12 4 4
nccl_topo/nemo_azure_ndv4.xml: 8 8 12 4 1
nccl_topo/mlperf07_dgxa100_nic_affinity.xml: 8 8 12 12 4
nccl_topo/mlperf10_dgxa100_bert.xml: 8 8 12 12 4
nccl_topo/mlperf10_dgxa100_rnnt.xml: 8 8 12 12 4
nccl_topo/dgx_a100_full_dump.xml: 8 12 12 6 6
nccl_topo/proteus_8xGTX1080.xml: 8 1 0 4 2
nccl_topo/proteus_4xGTX1080.xml: 4 1 0 2 1
nccl_topo/simai_8xA100_4cx6.xml: 8 5 12 4 2
nccl_topo/simai_4xA100_2cx6.xml: 4 3 12 2 1
nccl_topo/simai_2xA100_1cx6.xml: 2 2 12 1 1
nccl_topo/simai_1xA100_1cx6.xml: 1 2 12 1 1
nccl_topo/rccl_mi50_8p_pcie.xml: 8 1 0 2 1
nccl_topo/rccl_mi100_8p6l_6nic.xml: 8 6 12 0 2
nvidia_smi/dgx1_v100_4ib_msccl.txt: 8 4 6 4 2
nvidia_smi/dgx1_v100_4ib_ucxpy.txt: 8 4 6 4 2
nvidia_smi/dgx1_v100_4nic_ansi_raw_log.txt: 8 4 6 3 2
nvidia_smi/dgx1_v100_4nic_topo_mp_log.txt: 8 4 12 4 2
nvidia_smi/dgx1_v100_topo_mp_pcie_only_view.txt: 8 4 12 4 2
nvidia_smi/dgx_a100_8gpu_12nic.txt: 8 12 12 6 6
nvidia_smi/aws_p4d_8a100.txt: 8 0 12 0 2
nvidia_smi/a800_8gpu_4nic_nv8.txt: 8 4 8 3 2
nvidia_smi/a800_8gpu_4nic_damaged_copy.txt: 8 4 8 3 2
nvidia_smi/hgx_h100_8gpu.txt: 8 0 18 0 2
nvidia_smi/hgx_h100_8gpu_ht.txt: 8 0 18 0 2
nvidia_smi/h20_8gpu_8nic.txt: 8 8 18 4 2
nvidia_smi/juwels_booster_4a100_4nic.txt: 4 4 12 4 1
nvidia_smi/polaris_markdown_table.txt: 4 2 12 0 4
nvidia_smi/polaris_4a100_no_nic_rows.txt: 4 0 12 0 4
nvidia_smi/traverse_ac922_4v100_4ib.txt: 4 4 3 2 2
nvidia_smi/della_2a100pcie_2ib.txt: 2 2 0 0 2
nvidia_smi/p40_8gpu_1ib_soc.txt: 8 1 0 3 2
nvidia_smi/l4_8gpu_2numa_phb.txt: 8 0 0 0 2
nvidia_smi/k80_4gpu_node_hived.txt: 4 0 0 0 1
nvidia_smi/pcie_4gpu_2socket_phb_pairs_a.txt: 4 0 0 0 2
nvidia_smi/pcie_4gpu_2socket_phb_pairs_b.txt: 4 0 0 0 2
nvidia_smi/pcie_4gpu_pix_phb.txt: 4 0 0 2 1
nvidia_smi/pcie_4gpu_mlx4_soc_gdr.txt: 4 1 0 0 2
nvidia_smi/stelline_esc8000a_4rtx6000ada_2cx.txt: 4 4 0 2 2
nvidia_smi/stelline_wrx90_2rtx_1cx.txt: 2 2 0 1 1
nvidia_smi/workstation_2gpu_nv2.txt: 2 0 2 0 2
nvidia_smi/workstation_2gpu_phb.txt: 2 0 0 0 1
nvidia_smi/ssbandjl_2gpu_4nic.txt: 2 4 0 2 2
nvidia_smi/ssbandjl_2gpu_4nic_glued_header.txt: 2 4 0 2 2
hwloc/chimera_multi_gpu_types.xml: 2 0 0 0 1
hwloc/hwloc_2socket_pci_io.xml: 3 1 0 1 2
hwloc/hwloc_dgx2_16v100.xml: 16 0 6 6 2
hwloc/hwloc_dgx_spark_gb10.xml: 1 0 1 0 1
hwloc/lassen_ac922_4v100.xml: 4 4 6 4 2
hwloc/mpibind_coral_lassen.xml: 4 4 6 4 2
hwloc/sierra_ac922_4v100.xml: 4 4 6 0 2
slurm/scontrol_node_koc_v100x8.txt: 8 0 6 0 2
slurm/scontrol_node_uci_hpc3_v100x4.txt: 4 0 6 0 2
slurm/gres_v100_mps.conf: 2 0 6 0 1
slurm/gres_man_nodes.conf: 4 1 12 0 2
slurm/gres_man_autodetect.conf: 2 0 12 0 1
slurm/nodes_various.conf: 8 0 12 0 2
slurm/scontrol_node_azure_hb60rs.txt: 1 0 0 0 15
infragraph/dgxa100.yaml: 8 8 8 4 2
)";

SourceText text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {path.filename().string(), {std::istreambuf_iterator<char>(in), {}}};
}

ClusterSpec imported(const std::string& file) {
  ImportAnswers answers;
  // Its GTX 560 is in no catalog and is refused.
  if (file == "slurm/gres_man_autodetect.conf") answers.gpu = "a100-sxm4-40gb";
  const ImportedCluster cluster = cluster_of(read_machine(text_of(kSamples / file)), answers);
  return read_or_throw(SourceText{file, cluster.text}, read_cluster);
}

int nvlinks_of_first(const NodeSpec& node) {
  int count = 0;
  for (const NodeLink& link : node.links) {
    const bool is_its = link.a == "gpu0" || link.b == "gpu0";
    count += is_its && link.type.kind == LinkKind::nvlink ? link.count : 0;
  }
  return count;
}

std::string summary_of(const NodeSpec& node) {
  std::ostringstream out;
  out << node.gpus << ' ' << node.nics << ' ' << nvlinks_of_first(node) << ' ' << node.switches << ' '
      << node.cpus;
  return out.str();
}

double all_reduce_s(const ClusterSpec& spec) {
  const Placement placement = place_packed(spec.node.gpus, spec.node.gpus);
  const Cluster cluster = Cluster::build(spec, 1);
  return to_seconds(Communicator(cluster, placement).plan(CollectiveOp::all_reduce, Bytes{1 << 20}).alone);
}

}  // namespace

TEST_CASE(
    "every file of a node has the GPUs, adapters, NVLinks, switches and sockets that were counted in it") {
  if (!fs::is_directory(kSamples / "nccl_topo")) FORETRAIN_SKIP("../shared/samples is not there");
  std::istringstream rows(kExpected);
  int files = 0;
  for (std::string row; std::getline(rows, row);) {
    const std::size_t colon = row.find(": ");
    if (colon == std::string::npos) continue;
    const std::string file = row.substr(0, colon);
    INFO(file);
    const ClusterSpec spec = imported(file);
    CHECK(summary_of(spec.node) == row.substr(colon + 2));
    CHECK(check(spec).empty());
    if (spec.node.gpus > 1) CHECK(all_reduce_s(spec) > 0);
    ++files;
  }
  CHECK(files == 65);
}

// file: nodes, nodes of the fullest leaf, links up from a leaf, levels of switches, Gb/s of a host's link.
// Slurm knows no cables and no rates.
constexpr const char* kFabrics = R"(
ib/ibnetdiscover_hdr_leaf_spine_testfixture.txt: 4 4 2 2 200
ib/ibnetdiscover_p_osc_test.txt: 3 2 1 2 100
ib/iblinkinfo_hdr_1switch_21hosts_sharp.txt: 21 21 0 1 200
ib/iblinkinfo_line_mode_samples.txt: 3 3 0 1 100
ib/ibsim_net: 2 2 2 2 0
ib/ibsim_net.1: 2 2 0 1 0
ib/ibsim_net.2sw2path: 2 1 2 2 0
slurm/topology_html_3level.conf: 8 2 0 3 0
slurm/topology_man_tree.conf: 18 6 0 2 0
slurm/topology_man.yaml: 4 2 0 2 0
simgrid/cluster_backbone.xml: 100 0 0 1 1
simgrid/cluster_crossbar.xml: 65536 0 0 1 1
simgrid/cluster_fat_tree.xml: 16 4 4 2 1
simgrid/data_center.xml: 120 50 10 2 1
simgrid/routing_cluster.xml: 6 3 18 2 1
infragraph/two-tier-clos-fabric-infrastructure.yaml: 4 1 3 2 800
)";

TEST_CASE("every file of a network has the nodes, leaves, levels and rates that were counted in it") {
  if (!fs::is_directory(kSamples / "ib")) FORETRAIN_SKIP("../shared/samples is not there");
  std::istringstream rows(kFabrics);
  for (std::string row; std::getline(rows, row);) {
    const std::size_t colon = row.find(": ");
    if (colon == std::string::npos) continue;
    INFO(row);
    const MachineFabric fabric = read_machine(text_of(kSamples / row.substr(0, colon))).fabric;
    std::ostringstream out;
    out << fabric.nodes << ' ' << fabric.nodes_per_leaf << ' ' << fabric.uplinks_per_leaf << ' '
        << fabric.levels << ' ' << fabric.gbps;
    CHECK(out.str() == row.substr(colon + 2));
  }
}

TEST_CASE("every file of the samples becomes a cluster without mistakes that all-reduces") {
  if (!fs::is_directory(kSamples / "ib")) FORETRAIN_SKIP("../shared/samples is not there");
  int files = 0;
  for (const char* folder : {"nccl_topo", "nvidia_smi", "hwloc", "slurm", "ib", "simgrid", "infragraph"}) {
    for (const auto& entry : fs::directory_iterator(kSamples / folder)) {
      const std::string name = entry.path().filename().string();
      INFO(folder << "/" << name);
      if (name == "ibnetdiscover_bad_example.out") {
        CHECK_THROWS_WITH(read_machine(text_of(entry.path())),
                          ContainsSubstring("no host hangs at a switch"));
        continue;  // an adapter without a cable: its own index calls it the malformed one
      }
      const ClusterSpec spec = imported(std::string(folder) + "/" + name);
      CHECK(check(spec).empty());
      if (spec.node.gpus > 1) CHECK(all_reduce_s(spec) > 0);
      ++files;
    }
  }
  CHECK(files >= 90);
}

/// Fields of a line of the index; commas stand inside of quotes.
std::vector<std::string> index_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) fields.emplace_back();
    if (c != '"' && (c != ',' || quoted)) fields.back() += c;
  }
  return fields;
}

TEST_CASE("GPUs and adapters are as many as the index of the samples says") {
  if (!fs::exists(kSamples / "INDEX.csv")) FORETRAIN_SKIP("../shared/samples is not there");
  std::ifstream in(kSamples / "INDEX.csv");
  int compared = 0;
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> fields = index_fields(line);
    const std::string folder = fields[0].substr(0, fields[0].find('/'));
    if (folder != "nccl_topo" && folder != "nvidia_smi" && folder != "hwloc" && folder != "slurm") continue;
    if (fields.size() < 5 || fields[3].empty()) continue;
    INFO(line);
    const Machine seen = read_machine(text_of(kSamples / fields[0]));
    // The file lists two GPUs; the index says four.
    const bool is_known = fields[0] == "slurm/gres_v100_mps.conf";
    CHECK(std::to_string(gpus_of(seen)) == (is_known ? "2" : fields[3]));
    if (!fields[4].empty()) CHECK(std::to_string(seen.of_kind(PartKind::adapter).size()) == fields[4]);
    ++compared;
  }
  CHECK(compared >= 60);
}

/// The class that a word of a matrix of nvidia-smi means; nothing for other words.
std::optional<PathClass> class_of_word(const std::string& word) {
  if (word == "PIX") return PathClass::pix;
  if (word == "PXB") return PathClass::pxb;
  if (word == "PHB" || word == "NODE") return PathClass::phb;
  if (word == "SYS" || word == "SOC") return PathClass::sys;
  return word.starts_with("NV") && word.size() < 5 ? std::optional(PathClass::nvl) : std::nullopt;
}

TEST_CASE("links between GPUs have the classes of the matrix that they were read from") {
  if (!fs::is_directory(kSamples / "nvidia_smi")) FORETRAIN_SKIP("../shared/samples is not there");
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(kSamples / "nvidia_smi")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("p2p") || name.starts_with("nvlink")) continue;
    const ClusterSpec spec = imported("nvidia_smi/" + name);
    const Cluster built = Cluster::build(spec, 1);
    std::istringstream lines(text_of(entry.path()).text);
    for (std::string line; std::getline(lines, line);) {
      std::ranges::replace(line, '|', ' ');
      std::istringstream words(line);
      std::string row;
      words >> row;
      if (!row.starts_with("GPU") || row.size() > 5) continue;
      std::vector<std::string> cells;
      for (std::string word; words >> word && (word == "X" || class_of_word(word));) cells.push_back(word);
      const int gpu = std::stoi(row.substr(3));
      for (int other = 0; other < std::min(static_cast<int>(cells.size()), spec.node.gpus); ++other) {
        const auto expected = class_of_word(cells[static_cast<std::size_t>(other)]);
        if (!expected || other == gpu) continue;
        INFO(name << ": " << row << " to GPU" << other << " " << cells[static_cast<std::size_t>(other)]);
        const VertexId from = built.gpu(0, gpu), to = built.gpu(0, other);
        const bool is_nvlink = *expected == PathClass::nvl;
        CHECK(name_of(is_nvlink ? path_class(built, from, to) : host_path_class(built, from, to)) ==
              name_of(*expected));
        ++compared;
      }
    }
  }
  CHECK(compared > 800);
}

TEST_CASE("files of networks alone get a node that may be told") {
  if (!fs::is_directory(kSamples / "ib")) FORETRAIN_SKIP("../shared/samples is not there");
  const Machine leaf_spine =
      read_machine(text_of(kSamples / "ib/ibnetdiscover_hdr_leaf_spine_testfixture.txt"));
  CHECK(leaf_spine.fabric == MachineFabric{4, 4, 2, 2, 200});
  CHECK_THAT(cluster_of(leaf_spine, {}).assumptions.at(0), ContainsSubstring("the node: 8 GPUs"));
  ImportAnswers answers;
  answers.gpu = "h100-sxm5-80gb";
  answers.gpus_per_node = 8;
  const ImportedCluster cluster = cluster_of(leaf_spine, answers);
  const ClusterSpec spec = read_or_throw(SourceText{"c", cluster.text}, read_cluster);
  CHECK(spec.nodes == 4);
  CHECK(spec.fabric.kind == "fat_tree");
  CHECK(spec.fabric.link.name == "ib_hdr");
}

}  // namespace machine_files_test
