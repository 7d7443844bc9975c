// Sites with several kinds of node, from what batch systems print: every kind with its GPUs, CPUs and
// partitions, none dropped without a word, and jobs that find their kind.
#include <algorithm>

#include "sim/base/quantity.hpp"
#include "sim/cluster/site_kinds.hpp"
#include "sim/import/jobs/node_choice.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/machine_texts.hpp"
#include "tests/unit/import/scripts.hpp"

namespace site_import_test {

using namespace foretrain;
using test::machine;

namespace {

using Catch::Matchers::ContainsSubstring;

std::vector<ClusterSpec> kinds_of(const Machine& site, const ImportAnswers& answers = {}) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  return clusters_of_site(test::cluster(site, answers));
}
std::vector<ClusterSpec> kinds_of(const std::string& text) { return kinds_of(machine(text)); }

/// "20x 8 a100-sxm4-40gb, 128 cores: new all" of a kind.
std::string shown(const ClusterSpec& kind) {
  std::string out = std::to_string(kind.nodes) + "x " + std::to_string(kind.node.gpus) + " " +
                    kind.node.gpu.name + ", " + std::to_string(kind.node.host.cores) + " cores:";
  for (const Partition& partition : kind.site.partitions) out += " " + partition.name;
  return out;
}

std::string published(const std::string& name) {
  return read_text_file(std::string(FORETRAIN_SOURCE_DIR) + "/tests/unit/import/sites/" + name).text;
}

std::string chosen(const std::vector<ClusterSpec>& kinds, const std::string& directives) {
  return std::string(part_name(nodes_for_job(test::slurm(directives), kinds, "site.toml")));
}

std::string mistake_of(const std::vector<Machine>& machines, const MeantNodes& meant = {},
                       const ImportAnswers& answers = {}) {
  try {
    cluster_of(joined(machines, meant), answers);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const std::string kTwoKinds =
    "PARTITION AVAIL TIMELIMIT JOB_SIZE GRES S:C:T MEMORY NODELIST\n"
    "a40* up 1-00:00:00 1-infinite gpu:a40:8(S:0-1) 2:64:1 500000 a[0121-0158]\n"
    "a100 up 1-00:00:00 1-infinite gpu:a100:8(S:0-1) 2:64:1 1020000 a[0601-0620]\n"
    "small up 1-00:00:00 1-infinite (null) 2:20:1 190000 c[001-100]\n";

}  // namespace

TEST_CASE("sinfo with several types of GPU becomes one site with all of them") {
  const Machine site = machine(kTwoKinds);
  CHECK(site.remarks == std::vector<std::string>{"100 nodes without GPUs are left out (partition small)"});
  const std::vector<ClusterSpec> kinds = kinds_of(site);
  REQUIRE(kinds.size() == 2);
  CHECK(shown(kinds[0]) == "38x 8 a40, 128 cores: a40");
  CHECK(shown(kinds[1]) == "20x 8 a100-sxm4-40gb, 128 cores: a100");
  CHECK(to_string(kinds[1].node.host.memory) == "1.07 TB");
  CHECK(kinds[0].site.partitions[0].is_default);
}

TEST_CASE("slurm.conf with DEFAULT lines, partitions and gres.conf becomes one site") {
  const std::string conf =
      "NodeName=DEFAULT Sockets=2 CoresPerSocket=32 RealMemory=500000\n"
      "NodeName=g[01-10] Gres=gpu:a100:4 Feature=amd\n"
      "NodeName=v[01-20] Gres=gpu:v100:2 CoresPerSocket=20 Feature=intel\n"
      "NodeName=c[001-100]\n"
      "PartitionName=DEFAULT MaxTime=24:00:00 State=UP\n"
      "PartitionName=gpu Nodes=g[01-10] Default=YES\n"
      "PartitionName=old Nodes=v[01-20] MaxTime=72:00:00\n"
      "PartitionName=any Nodes=g[01-10],v[01-20]\n"
      "PartitionName=gone Nodes=g[01-10] State=DOWN\n";
  const std::vector<ClusterSpec> kinds = kinds_of(conf);
  REQUIRE(kinds.size() == 2);
  CHECK(shown(kinds[0]) == "10x 4 a100-sxm4-40gb, 64 cores: gpu any");
  CHECK(shown(kinds[1]) == "20x 2 v100-sxm2-16gb, 40 cores: any old");
  CHECK(kinds[0].site.partitions[0].longest == Time{std::chrono::hours(24)});
  CHECK(kinds[1].site.partitions[1].longest == Time{std::chrono::hours(72)});
  // The same site with its GPUs in gres.conf, a line for each socket.
  const Machine gres = machine(
      "NodeName=g[01-10] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-31\n"
      "NodeName=g[01-10] Name=gpu Type=a100 File=/dev/nvidia[2-3] Cores=32-63\n"
      "NodeName=v[01-20] Name=gpu Type=v100 File=/dev/nvidia[0-1]\n",
      "gres.conf");
  const std::vector<ClusterSpec> both = kinds_of(joined({machine(conf, "slurm.conf"), gres}));
  REQUIRE(both.size() == 2);
  CHECK(shown(both[0]) == shown(kinds[0]));
  CHECK(shown(both[1]) == shown(kinds[1]));
}

TEST_CASE("scontrol's nodes get the limits of the partitions that hold them") {
  const Machine nodes = machine(
      "NodeName=g1 Arch=x86_64 CoresPerSocket=32\n   AvailableFeatures=amd,nvlink\n   Gres=gpu:a100:4\n"
      "   RealMemory=500000 Sockets=2 Boards=1\n   Partitions=gpu,test\n\n"
      "NodeName=v1 Arch=x86_64 CoresPerSocket=20\n   AvailableFeatures=intel\n   Gres=gpu:v100:2\n"
      "   RealMemory=190000 Sockets=2 Boards=1\n   Partitions=old\n");
  const Machine partitions = machine(
      "PartitionName=gpu Nodes=g1 MaxNodes=8 State=UP TRES=gres/gpu=4\n"
      "PartitionName=test Nodes=g1 MaxNodes=1 State=UP TRES=gres/gpu=4\n"
      "PartitionName=old Nodes=v1 MaxNodes=4 State=UP TRES=gres/gpu=2\n",
      "partitions.txt");
  const std::vector<ClusterSpec> kinds = kinds_of(joined({nodes, partitions}));
  REQUIRE(kinds.size() == 2);
  CHECK(shown(kinds[0]) == "1x 4 a100-sxm4-40gb, 64 cores: gpu test");
  CHECK(kinds[0].site.partitions[0].most_nodes == 8);
  CHECK(shown(kinds[1]) == "1x 2 v100-sxm2-16gb, 40 cores: old");
  CHECK(kinds[1].site.partitions[0].most_nodes == 4);
  CHECK(kinds[1].site.constraints == std::vector<std::string>{"intel"});
}

TEST_CASE("pbsnodes tells kinds of node, their queues and GPUs") {
  const std::string text =
      "gpu001\n     ntype = PBS\n     state = free\n     pcpus = 64\n     queue = volta\n"
      "     resources_available.mem = 527949096kb\n     resources_available.ncpus = 64\n"
      "     resources_available.ngpus = 4\n     resources_available.gpu_type = v100\n\n"
      "gpu002\n     ntype = PBS\n     state = free\n     pcpus = 128\n"
      "     resources_available.Qlist = ampere,test\n     resources_available.mem = 1000gb\n"
      "     resources_available.ngpus = 8\n     resources_available.gpu_type = a100\n";
  CHECK(machine(text).format == "pbsnodes");
  const std::vector<ClusterSpec> kinds = kinds_of(text);
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0].site.system == BatchSystem::pbs);
  CHECK(shown(kinds[0]) == "1x 8 a100-sxm4-40gb, 128 cores: ampere test");
  CHECK(shown(kinds[1]) == "1x 4 v100-sxm2-16gb, 64 cores: volta");
  CHECK(to_string(kinds[0].node.host.memory) == "1.07 TB");
}

TEST_CASE("LSF's tables of hosts and of GPUs are one site") {
  const std::string text =
      "HOST_NAME  type     model   cpuf ncpus maxmem maxswp server RESOURCES\n"
      "p9n01      LINUXPPC POWER9 250.0    44 605.2G   4.0G    Yes (CN)\n"
      "dgx01      X86_64   AMD     60.0   128 1007.6G     -    Yes (mg)\n\n"
      "HOST_NAME  GPU_ID                MODEL MUSED MRSV NJOBS RUN SUSP RSV\n"
      "p9n01           0  TeslaV100_SXM2_16GB    0G   0G     0   0    0   0\n"
      "                1  TeslaV100_SXM2_16GB    0G   0G     0   0    0   0\n"
      "dgx01           0 NVIDIAA100_SXM4_40GB    0G   0G     0   0    0   0\n"
      "                1 NVIDIAA100_SXM4_40GB    0G   0G     0   0    0   0\n"
      "                2 NVIDIAA100_SXM4_40GB    0G   0G     0   0    0   0\n";
  CHECK(machine(text).format == "LSF hosts");
  const std::vector<ClusterSpec> kinds = kinds_of(text);
  REQUIRE(kinds.size() == 2);
  CHECK(shown(kinds[0]) == "1x 3 a100-sxm4-40gb, 128 cores:");
  CHECK(shown(kinds[1]) == "1x 2 v100-sxm2-16gb, 44 cores:");
}

TEST_CASE("Kubernetes nodes of several products are several kinds") {
  const auto node = [](const std::string& name, const std::string& product, int gpus) {
    return "Name: " + name + "\nLabels: nvidia.com/gpu.product=" + product +
           "\nCapacity:\n  cpu: 96\n  memory: 1000000Ki\n  nvidia.com/gpu: " + std::to_string(gpus) +
           "\nAllocatable:\n  cpu: 95\nSystem Info:\n  OS Image: x\n\n";
  };
  const std::vector<ClusterSpec> kinds =
      kinds_of(node("a", "NVIDIA-A100-SXM4-80GB", 8) + node("b", "Tesla-T4", 4) + node("c", "Tesla-T4", 4));
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0].nodes == 1);
  CHECK(kinds[0].node.gpu.name == "a100-sxm4-80gb");
  CHECK(kinds[1].nodes == 2);
  CHECK(kinds[1].node.gpu.name == "t4");
  CHECK(kinds[1].site.system == BatchSystem::kubernetes);
}

TEST_CASE("of many partitions of scontrol the first 200 are kept") {
  std::string text;
  for (int i = 0; i < 202; ++i) text += "PartitionName=p" + std::to_string(i) + " State=UP\n";
  Diagnostics diagnostics(SourceText{"a.txt", text});
  const std::vector<Partition> kept = read_slurm_partitions({"a.txt", text}, diagnostics).site.partitions;
  REQUIRE(kept.size() == 200);
  CHECK(kept.back().name == "p199");
}

TEST_CASE("MASSIVE M3 from its sinfo, by partition and type") {
  const std::vector<ClusterSpec> kinds = kinds_of(published("m3.sinfo"));
  REQUIRE(kinds.size() == 5);
  CHECK(shown(kinds[1]) == "18x 3 v100-sxm2-16gb, 36 cores: gpu m3g");
  CHECK(chosen(kinds, "--partition=m3g\n--gres=gpu:3") == "v100");
  CHECK(chosen(kinds, "--partition=m3h\n--gres=gpu:P100:2") == "p100");
  CHECK(chosen(kinds, "--partition=gpu\n--gres=gpu:A40:1") == "a40");
  CHECK_THROWS_AS(chosen(kinds, "--partition=gpu\n--gres=gpu:P100:1"), InputError);
}

TEST_CASE("Jean Zay from its sinfo, by partition and feature where GPUs have no type") {
  const std::vector<ClusterSpec> kinds = kinds_of(published("jean_zay.sinfo"));
  REQUIRE(kinds.size() == 4);
  CHECK(chosen(kinds, "--partition=gpu_p13\n--gres=gpu:4\n-C v100-32g") == "v100-32g-4gpu");
  CHECK(chosen(kinds, "--partition=gpu_p13\n--gres=gpu:4\n-C v100-16g") == "v100-16g");
  CHECK(chosen(kinds, "--partition=gpu_p2\n--gres=gpu:8") == "v100-32g-8gpu");
  CHECK(chosen(kinds, "--gres=gpu:8\n-C a100") == "a100");
  CHECK_THROWS_AS(chosen(kinds, "--partition=gpu_p13\n--gres=gpu:4"), InputError);
}

TEST_CASE("a file of a node goes to the kind that has its GPUs, and is refused where several have") {
  const std::string list =
      "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0)\nGPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\n"
      "GPU 2: NVIDIA A100-SXM4-80GB (UUID: GPU-2)\nGPU 3: NVIDIA A100-SXM4-80GB (UUID: GPU-3)\n";
  const std::string table =
      "PARTITION AVAIL TIMELIMIT GRES NODELIST\nnew up 1:00 gpu:a100:4 a[1-2]\nold up 1:00 gpu:v100:4 "
      "v[1-4]\n";
  const std::vector<ClusterSpec> kinds = kinds_of(joined({machine(table), machine(list, "list.txt")}));
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0].node.gpu.name == "a100-sxm4-80gb");
  CHECK(kinds[1].node.gpu.name.starts_with("v100"));
  const Machine counted = machine("NodeName=x Name=gpu File=/dev/nvidia[0-7]\n", "gres.conf");
  CHECK_THAT(
      mistake_of({machine(kTwoKinds), counted}),
      ContainsSubstring("2 kinds of node of m.txt:1 may be these nodes: 8 GPUs (a40); 8 GPUs (a100)") &&
          ContainsSubstring("--partition NAME"));
  CHECK(mistake_of({machine(kTwoKinds), counted}, {"a100", ""}).empty());
  CHECK_THAT(
      mistake_of({machine(kTwoKinds)}, {"small", ""}),
      ContainsSubstring("there is no partition small with GPUs") && ContainsSubstring("known: a40, a100"));
}

TEST_CASE("nodes that nothing tells apart are left out with a remark") {
  const Machine site = machine("NodeName=a Gres=gpu:8\nNodeName=b[1-3] Gres=gpu:2\n");
  CHECK(site.other_kinds.empty());
  CHECK(site.remarks ==
        std::vector<std::string>{"3 nodes with 2 GPUs left out: no type, feature or partition "
                                 "leads a job there"});
}

TEST_CASE("AMD's products become AMD's, and others that no catalog has are refused") {
  const auto of_type = [](const std::string& type) {
    return "NodeName=g1 Gres=gpu:" + type + ":4 Sockets=2 CoresPerSocket=32\n";
  };
  CHECK(kinds_of(of_type("mi50")).front().node.gpu.name == "mi100");
  CHECK(kinds_of(of_type("volta")).front().node.gpu.compute_capability == 7.0);
  CHECK_THAT(
      test::mistake_in(of_type("gtx560")),
      ContainsSubstring("no GPU of the catalog is called \"gtx560\"") && ContainsSubstring("--gpu NAME"));
}

TEST_CASE("ibnetdiscover counts the adapters of a host") {
  const auto cable = [](int port, const std::string& host, int adapter) {
    const std::string id = std::to_string(port);
    return "[" + id + "]\t\"H-" + id + "\"[1](" + id + ") \t\t# \"" + host + " mlx5_" +
           std::to_string(adapter) + "\" lid 1 4xNDR\n";
  };
  std::string text = "switchguid=0x1(1)\nSwitch\t64 \"S-1\"\t\t# \"leaf1\" enhanced port 0 lid 1 lmc 0\n";
  for (int i = 0; i < 8; ++i) text += cable(i + 1, i < 4 ? "node01" : "node02", i % 4);
  const ClusterSpec spec = test::cluster(machine(text), {"h100-sxm5-80gb", 8, 0, ""});
  CHECK(spec.nodes == 2);
  CHECK(spec.node.nics == 4);
}

TEST_CASE("what is said of one node is refused for several kinds, a GPU goes to its kind") {
  CHECK_THAT(mistake_of({machine(kTwoKinds)}, {}, {"", 0, 4, ""}),
             ContainsSubstring("--nodes is of one kind of nodes") && ContainsSubstring("--partition NAME"));
  CHECK_THAT(mistake_of({machine(kTwoKinds)}, {}, {"h100-sxm5-80gb", 0, 0, ""}),
             ContainsSubstring("no kind of node in m.txt has h100-sxm5-80gb"));
  const std::vector<ClusterSpec> kinds = kinds_of(machine(kTwoKinds), {"a100-sxm4-80gb", 0, 0, ""});
  CHECK(kinds[0].node.gpu.name == "a40");
  CHECK(kinds[1].node.gpu.name == "a100-sxm4-80gb");
}

TEST_CASE("GPUs that stand among features without a column of GRES are refused") {
  CHECK_THAT(mistake_of({machine(kTwoKinds)}), Catch::Matchers::Equals(""));
  CHECK_THAT(
      test::mistake_in("NODELIST CPUS S:C:T MEMORY NODES AVAIL_FEATURES\n"
                       "n[1-4] 128 2:32:2 257500 4 amd,epyc,mi100\n"),
      ContainsSubstring("m.txt:1:1") && ContainsSubstring("no column says how many a node has (GRES)"));
  CHECK(test::mistake_in("NODELIST CPUS S:C:T MEMORY NODES AVAIL_FEATURES\n"
                         "n[1-4] 128 2:32:2 257500 4 amd,epyc,7551\n")
            .empty());
}

TEST_CASE("NUMA nodes of NPS4 are no sockets, and affinities no count of cores") {
  const Machine matrix = machine(
      "        GPU0    GPU1    CPU Affinity    NUMA Affinity\n"
      "GPU0     X      SYS     48-63           3\nGPU1    SYS      X      112-127         7\n");
  const Machine table = machine(
      "PARTITION AVAIL TIMELIMIT GRES S:C:T NODELIST\ngpu up 1:00 gpu:a100:2 2:64:1 a[1-2]\n", "sinfo.txt");
  const Machine both = joined({matrix, table});
  CHECK(both.cores == 128);
  REQUIRE(both.doubts.size() == 1);
  CHECK(both.doubts[0].what == "the affinities of GPUs show 32 cores, and sinfo.txt says 128");
  CHECK(both.of_kind(PartKind::socket).size() == 2);
  Machine one_socket = table;
  one_socket.sockets = 1, one_socket.cores = 64;
  CHECK(joined({matrix, one_socket}).of_kind(PartKind::socket).size() == 1);
  CHECK(joined({matrix, one_socket}).cores == 64);
}

TEST_CASE("a hundred thousand lines of nodes stay bounded") {
  std::string text = "PARTITION AVAIL TIMELIMIT GRES NODELIST\n";
  for (int i = 0; i < 100'000; ++i)
    text += "p" + std::to_string(i % 300) + " up 1:00 gpu:t" + std::to_string(i % 90) + ":4 n[1-100000]\n";
  const Machine site = machine(text);
  CHECK(site.other_kinds.size() + 1 <= kMostNodeKinds);
  CHECK(std::ranges::any_of(site.remarks, [](const std::string& remark) {
    return remark.find("kinds of node beyond") != std::string::npos;
  }));
}

}  // namespace site_import_test
