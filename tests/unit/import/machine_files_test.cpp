// Every file of ../shared/samples that describes a machine against a table that was written by reading it:
// matrices by eye, XML by grep.
#include <filesystem>
#include <fstream>
#include <iterator>
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
// are below one switch. NVLinks that a file does not tell are those of the board that is assumed.
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
nccl_topo/rccl_mi100_8p6l_6nic.xml: 8 6 6 0 2
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
hwloc/lassen_ac922_4v100.xml: 4 4 6 4 2
hwloc/mpibind_coral_lassen.xml: 4 4 6 4 2
hwloc/sierra_ac922_4v100.xml: 4 4 6 0 2
slurm/scontrol_node_koc_v100x8.txt: 8 0 6 0 2
slurm/scontrol_node_uci_hpc3_v100x4.txt: 4 0 6 0 2
slurm/gres_v100_mps.conf: 2 0 6 0 1
slurm/gres_man_nodes.conf: 4 1 12 0 2
)";

SourceText text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {path.filename().string(), {std::istreambuf_iterator<char>(in), {}}};
}

ClusterSpec imported(const std::string& file) {
  const ImportedCluster cluster = cluster_of(read_machine(text_of(kSamples / file)), {});
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
  CHECK(files == 60);
}

TEST_CASE("an imported DGX A100 all-reduces as the one of the catalog, within 5 %") {
  if (!fs::is_directory(kSamples / "nccl_topo")) FORETRAIN_SKIP("../shared/samples is not there");
  const double known = all_reduce_s(open_cluster("dgx-a100"));
  CHECK(all_reduce_s(imported("nccl_topo/dgx_a100_full_dump.xml")) == Approx(known).epsilon(0.05));
  CHECK(all_reduce_s(imported("nccl_topo/azure_ndv4_8xA100.xml")) == Approx(known).epsilon(0.05));
}

TEST_CASE("an imported DGX-1 all-reduces as the one of the catalog, within 5 %") {
  if (!fs::is_directory(kSamples / "nvidia_smi")) FORETRAIN_SKIP("../shared/samples is not there");
  CHECK(all_reduce_s(imported("nvidia_smi/dgx1_v100_4ib_msccl.txt")) ==
        Approx(all_reduce_s(open_cluster("dgx1-v100"))).epsilon(0.05));
}

TEST_CASE("files of networks alone need to be told what a node is") {
  if (!fs::is_directory(kSamples / "ib")) FORETRAIN_SKIP("../shared/samples is not there");
  const Machine leaf_spine =
      read_machine(text_of(kSamples / "ib/ibnetdiscover_hdr_leaf_spine_testfixture.txt"));
  CHECK(leaf_spine.fabric == MachineFabric{4, 4, 2, 2, 200});
  CHECK_THROWS_WITH(cluster_of(leaf_spine, {}), ContainsSubstring("no GPU of a node is told here"));
  ImportAnswers answers;
  answers.gpu = "h100-sxm5-80gb";
  answers.gpus_per_node = 8;
  const ImportedCluster cluster = cluster_of(leaf_spine, answers);
  const ClusterSpec spec = read_or_throw(SourceText{"c", cluster.text}, read_cluster);
  CHECK(spec.nodes == 4);
  CHECK(spec.fabric.kind == "fat_tree");
  CHECK(spec.fabric.link.name == "ib_hdr");
  CHECK(read_machine(text_of(kSamples / "slurm/topology_html_3level.conf")).fabric ==
        MachineFabric{8, 2, 0, 3, 0});
  CHECK(read_machine(text_of(kSamples / "ib/ibnetdiscover_p_osc_test.txt")).fabric.nodes == 3);
  CHECK(read_machine(text_of(kSamples / "ib/iblinkinfo_hdr_1switch_21hosts_sharp.txt")).fabric.levels == 1);
}

}  // namespace machine_files_test
