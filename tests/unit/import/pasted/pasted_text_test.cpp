// What blocks of a pasted text say together, what they contradict, and what nobody reads.
#include "sim/import/pasted/pasted_text.hpp"

#include "sim/import/machines/machine_cluster.hpp"
#include "sim/import/pasted/nccl_log.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/machine_texts.hpp"

namespace pasted_text_test {

using namespace foretrain;

namespace {

PastedText pasted(const std::string& text) {
  auto out = read_pasted_text({"s.txt", text});
  REQUIRE(out);
  return std::move(*out);
}

std::string seed(const std::string& name) {
  return read_text_file(FORETRAIN_SOURCE_DIR "/tests/fuzz/corpus/" + name).text;
}

std::string joined_notes(const PastedText& text) {
  std::string out;
  for (const std::string& note : text.notes) out += note + "\n";
  return out;
}

ClusterSpec cluster_of_text(const std::string& text) { return test::cluster(joined(pasted(text).machines)); }

const std::string kList =
    "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\nGPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-2)\n";
const std::string kProcessors =
    "Architecture:        x86_64\nCPU(s):              128\nThread(s) per core:  2\n"
    "Core(s) per socket:  32\nSocket(s):           2\nVendor ID:           AuthenticAMD\n"
    "Model name:          AMD EPYC 7543\n";

}  // namespace

TEST_CASE("names of one block and links of another are one machine") {
  const ClusterSpec spec = cluster_of_text(seed("fuzz_pasted_text/list_and_matrix.txt"));
  CHECK(spec.node.gpu.name == "a100-sxm4-80gb");
  CHECK(spec.node.gpus == 4);
}

TEST_CASE("a session of ten tools is one machine with its network, cores and partitions") {
  const std::string text = seed("fuzz_pasted_text/session.txt");
  const ClusterSpec spec = cluster_of_text(text);
  CHECK(spec.nodes == 12);
  CHECK(spec.node.gpus == 2);
  CHECK(spec.node.gpu.name == "a100-sxm4-80gb");  // printed as "NVIDIA A100-SXM..." with 81,920 MiB
  CHECK(spec.node.host.cores == 64);
  CHECK(spec.fabric.link.name == "ib_hdr");
  REQUIRE(spec.site.partitions.size() == 1);
  CHECK(spec.site.partitions[0].name == "gpu");
  const std::string notes = joined_notes(pasted(text));
  CHECK_THAT(notes, ContainsSubstring("s.txt:59: the printed model: `foretrain model import s.txt`"));
  CHECK_THAT(notes, ContainsSubstring("3 rates, 8.6 steps/s"));
  CHECK_THAT(notes, ContainsSubstring("s.txt:44: no reader takes the 2 lines of `numactl -H`"));
  CHECK_THAT(notes, ContainsSubstring("the first is s.txt:1: \"Hi, here is what I get on our node:\""));
}

TEST_CASE("blocks that say other things are told with both lines") {
  const PastedText text = pasted(kList + kProcessors + "NodeName=n1 CPUTot=24 CoresPerSocket=12 Sockets=2\n");
  REQUIRE(text.doubts.size() == 1);
  CHECK_THAT(text.doubts[0].what, ContainsSubstring("scontrol says 24 cores, lscpu in s.txt:4 says 64"));
  CHECK(to_string(text.doubts[0].place) == "s.txt:10");
}

TEST_CASE("another number of GPUs or another product is refused with both lines") {
  const PastedText text = pasted(kList + "PARTITION NODES GRES CPUS MEMORY\ngpu 12 gpu:v100:4 64 100000\n");
  CHECK_THROWS_WITH(joined(text.machines),
                    ContainsSubstring("s.txt:1") && ContainsSubstring("s.txt:3") && ContainsSubstring("GPU"));
}

TEST_CASE("threads are no contradiction to cores, nor are the cores of a job's share") {
  const PastedText text = pasted(kProcessors +
                                 "PARTITION NODES GRES CPUS MEMORY\ngpu 12 gpu:a100:2 128 100000\n"
                                 "GPU0\t X \tNV12\t0-7\t0\nGPU1\tNV12\t X \t0-7\t0\n");
  CHECK(text.doubts.empty());
  CHECK(joined(text.machines).cores == 64);
}

TEST_CASE("mistakes of all blocks have their lines in the whole text") {
  try {
    read_pasted_text({"s.txt", kList + "\nCA 'mlx5_0'\n\nGPU0 X PIX\nGPU1 PIX\n"});
    FAIL("no mistake");
  } catch (const InputError& error) {
    CHECK_THAT(error.what(), ContainsSubstring("s.txt:4:1: error: mlx5_0 has no port here"));
    CHECK_THAT(error.what(), ContainsSubstring("s.txt:7:1: error: GPU1 of 2 GPUs has 1 column of 2"));
  }
}

TEST_CASE("a text of one tool is left to its own reader") {
  CHECK_FALSE(read_pasted_text({"s.txt", kList}));
  CHECK_FALSE(read_pasted_text({"s.txt", "hello\n"}));
  CHECK_FALSE(read_pasted_text({"s.txt", ""}));
  CHECK_FALSE(is_pasted_text(kProcessors));
  CHECK(is_pasted_text(kProcessors, 1));
  CHECK(is_pasted_text(kList + kProcessors));
}

TEST_CASE("what is printed again is read once, and what is printed without end is cut and said") {
  std::string text = kProcessors;
  for (int i = 0; i < 500; ++i) text += "$ nvidia-smi -L\n" + kList;
  CHECK(pasted(text).machines.size() == 2);
  for (int i = 0; i < 500; ++i)
    text += "$ nvidia-smi -L\nGPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-" + std::to_string(i) + ")\n";
  CHECK_THAT(joined_notes(pasted(text)), ContainsSubstring("blocks behind the first 200 are left out"));
}

TEST_CASE("the table of nvidia-smi tells products, sockets by addresses, and memory") {
  const Machine seen = test::machine(seed("fuzz_pasted_text/nvidia_smi.txt"));
  CHECK(seen.format == "nvidia-smi");
  CHECK(gpus_of(seen) == 2);
  CHECK(seen.of_kind(PartKind::socket).size() == 2);  // buses 3b and af
  CHECK_FALSE(seen.tells_nvlinks);
  CHECK(seen.gpu_memory == Bytes{std::int64_t{24576} << 20});
  CHECK(test::cluster(seen).node.gpu.name == "rtx-3090");
  CHECK_THAT(test::mistake_in("| NVIDIA-SMI 535.54.03    Driver Version: 535.54.03 |\n"),
             ContainsSubstring("has no row of a GPU"));
}

TEST_CASE("lscpu tells family, sockets and cores, and one that was cut says so") {
  const Machine seen = test::machine(kProcessors);
  CHECK(seen.cores == 64);
  CHECK(seen.sockets == 2);
  CHECK(seen.family == HostFamily::amd);
  CHECK(test::machine("Architecture: x86_64\nCPU(s): 48\nCore(s) per socket: 24\nVendor ID: GenuineIntel\n"
                      "Model: 143\n")
            .family == HostFamily::intel_sapphire_rapids);
  CHECK_THAT(test::mistake_in("Architecture: x86_64\nCPU(s):\n"), ContainsSubstring("no number of cores"));
}

TEST_CASE("NCCL's log tells version, nodes and sockets") {
  const SourceText log{"n.txt", seed("fuzz_nccl_log/sockets.txt")};
  const NcclLog said = nccl_log_of(log);
  CHECK(said.version == "2.7.8");
  CHECK(said.ranks == 16);
  CHECK(said.gpus_per_node == 8);  // of 4 and 8, only after 8 the ring goes on as it began
  CHECK(said.channels == 2);
  CHECK(said.has_no_infiniband);
  CHECK(said.interface == "ens5");
  const Machine seen = test::machine(log.text, log.name);
  CHECK(seen.fabric.nodes == 2);
  CHECK(seen.sockets_on == "ens5");
  const ClusterSpec spec = test::cluster(seen, {"v100-sxm2-16gb", 0, 0, ""});
  CHECK(spec.fabric.link.name == "eth_10_tcp");
}

TEST_CASE("NCCL's log tells adapters and their kind, and ranks of a node as the communicator says them") {
  const NcclLog said = nccl_log_of({"n.txt", seed("fuzz_nccl_log/infiniband.txt")});
  CHECK(said.adapters == std::vector<NcclAdapter>{{"mlx5_0", false}, {"mlx5_1", true}});
  CHECK(said.gpus_per_node == 8);
  CHECK(said.has_peer_access);
}

TEST_CASE("a log of NCCL that tells of no node is no machine, and beside others no mistake") {
  const std::string log = "n0:1:1 [0] NCCL INFO Launch mode Parallel\nNCCL version 2.16.5+cuda11.8\n";
  CHECK_THAT(test::mistake_in(log), ContainsSubstring("m.txt:1:1: error: NCCL's log tells neither GPUs"));
  CHECK(cluster_of_text(kList + log).node.gpus == 2);
}

TEST_CASE("a table of peers beside a list of GPUs says that drivers refuse them") {
  const ClusterSpec spec =
      cluster_of_text(kList + "$ nvidia-smi topo -p2p r\n \tGPU0\tGPU1\nGPU0\tX\tCNS\nGPU1\tCNS\tX\n");
  CHECK_FALSE(spec.node.peer_access);
}

TEST_CASE("a ring in order says nothing about nodes") {
  CHECK(nccl_log_of({"n.txt",
                     "n0:1:1 [0] NCCL INFO Channel 00/02 : 0 1 2 3\n"
                     "n0:1:1 [0] NCCL INFO Channel 00 : 3[0] -> 0[1] [receive] via NET/IB/0\n"})
            .gpus_per_node == 0);
}

TEST_CASE("a list of PCI devices without a GPU is refused, with two ways out") {
  const std::string list =
      "01:00.0 VGA compatible controller: ASPEED Technology, Inc. ASPEED Graphics Family (rev 41)\n"
      "3b:00.0 Ethernet controller: Mellanox Technologies MT27800 Family [ConnectX-5]\n";
  CHECK_THAT(test::mistake_in(list), ContainsSubstring("no GPU in this list of PCI devices") &&
                                         ContainsSubstring("--gpu NAME and --gpus-per-node N"));
  CHECK(test::cluster(test::machine(list), {"l40s", 4, 0, ""}).node.gpus == 4);
}

}  // namespace pasted_text_test
