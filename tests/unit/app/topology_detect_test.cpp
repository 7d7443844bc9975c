// `foretrain topology detect` as typed: on the machine that runs the tests, beside stand-ins for NVML, hwloc
// and Slurm, and from a folder.
#include <thread>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace topology_detect_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

const std::string kStandins =
    std::filesystem::path(FORETRAIN_BINARY).parent_path().string() + "/standin_node";

ClusterSpec written_cluster(const TemporaryFolder& folder, const std::string& name) {
  return read_or_throw(SourceText{name, folder.read(name)}, read_cluster);
}

/// Numbers that the shell's own tools print of this machine.
std::int64_t number_from(const TemporaryFolder& folder, const std::string& line) {
  return std::stoll(folder.run(line).output);
}

/// Stand-ins join what Linux shows: their tests are of machines that show none.
bool has_gpus(const TemporaryFolder& folder) {
  return folder.run("grep -lE '0x(10de|1002)' /sys/bus/pci/devices/*/vendor").exit_code == 0;
}

/// The hybrid cube mesh of a DGX-1 as NVML tells it, with one link of GPU 7 down.
std::string cube_mesh() {
  const std::vector<std::array<int, 3>> pairs{
      {0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
      {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
  std::string out;
  for (int gpu = 0; gpu < 8; ++gpu) {
    out += fmt::format("gpu 00000000:{:02X}:00.0 7.0 16160 1530 {} Tesla V100-SXM2-16GB\n", 16 + gpu,
                       gpu == 5 ? 1200 : 1530);
    for (const auto& [a, b, count] : pairs) {
      for (int link = 0; (a == gpu || b == gpu) && link < count; ++link)
        out += fmt::format("link 00000000:{:02X}:00.0 0 1\n", 16 + (a == gpu ? b : a));
    }
    if (gpu == 7) out += "link 00000000:10:00.0 0 0\n";
  }
  return out;
}

}  // namespace

TEST_CASE("the machine that runs this is a cluster with its cores, NUMA nodes and memory") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run("foretrain topology detect -o here.toml");
  REQUIRE(run.exit_code == 0);
  const ClusterSpec spec = written_cluster(folder, "here.toml");
  CHECK(spec.node.host.cores ==
        number_from(folder,
                    "cat /sys/devices/system/cpu/cpu*/topology/thread_siblings_list | sort -u | wc -l"));
  CHECK(spec.node.cpus == number_from(folder, "cat /sys/devices/system/node/node*/cpulist | grep -c ."));
  const std::int64_t kibibytes = number_from(folder, "sed -n 's/MemTotal: *//p' /proc/meminfo");
  CHECK(to_string(spec.node.host.memory) == to_string(Bytes{kibibytes << 10}));
  CHECK(folder.run("foretrain topology check ./here.toml").exit_code == 0);
  if (has_gpus(folder)) return;
  CHECK(spec.node.gpus == 1);
  CHECK(spec.node.gpu.architecture == Architecture::cpu);
  CHECK_FALSE(spec.node.gpudirect);
  CHECK_THAT(folder.read("here.toml"), ContainsSubstring("# no GPU was seen"));
  REQUIRE(folder.run("foretrain topology detect --gpus-per-node 2 --nodes 3 -o two.toml").exit_code == 0);
  const ClusterSpec two = written_cluster(folder, "two.toml");
  CHECK(two.node.gpus == 2);
  CHECK(two.fabric.link.name == "eth_10_tcp");
  CHECK(folder.run("foretrain collective --cluster ./here.toml --op all_reduce --gpus 1 --sizes 1M")
            .exit_code ==
        folder.run("foretrain collective --cluster gloo-testbed --op all_reduce --gpus 1 --sizes 1M")
            .exit_code);
}

TEST_CASE("what is not there is said on standard error, and the file comes all the same") {
  const TemporaryFolder folder;
  // No program and no library of the machine is found.
  const ProgramRun run = folder.run(
      "PATH=/nowhere LD_LIBRARY_PATH=/nowhere \"$(command -v foretrain)\" topology detect 2>&1 >out.toml");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("not seen: Slurm (scontrol is not here)"));
  CHECK_THAT(folder.read("out.toml"), ContainsSubstring("as `foretrain topology detect` reads"));
}

TEST_CASE("NVML's GPUs and links make a hybrid cube mesh, with what is wrong as warnings") {
  const TemporaryFolder folder;
  if (has_gpus(folder)) FORETRAIN_SKIP("this machine has GPUs");
  folder.write("nvml.txt", cube_mesh());
  const ProgramRun run = folder.run(fmt::format(
      "LD_LIBRARY_PATH={} STANDIN_NVML=nvml.txt foretrain topology detect --nodes 2 -o dgx.toml 2>&1",
      kStandins));
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("warning: NVML: gpu5 is held at 1200 of its 1530 MHz\n  hint: "));
  CHECK_THAT(run.output, ContainsSubstring("warning: NVML: 1 of the 7 NVLinks of gpu7 are down"));
  const ClusterSpec spec = written_cluster(folder, "dgx.toml");
  CHECK(spec.node.gpus == 8);
  CHECK(spec.node.gpu.name == "v100-sxm2-16gb");
  CHECK_THAT(folder.read("dgx.toml"), ContainsSubstring("# Doubtful: gpu5 is held at 1200"));
  CHECK_THAT(folder.run("foretrain topology check ./dgx.toml").output,
             ContainsSubstring("6 NVLinks each, hybrid cube mesh"));
}

TEST_CASE("an NVML without a driver, and an hwloc that fails, are said") {
  const TemporaryFolder folder;
  const ProgramRun run =
      folder.run(fmt::format("LD_LIBRARY_PATH={} foretrain topology detect 2>&1", kStandins));
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("not seen: NVML (NVIDIA's driver does not answer)"));
  CHECK_THAT(run.output, ContainsSubstring("not seen: hwloc (hwloc found nothing)"));
}

TEST_CASE("hwloc's GPUs stand where Linux shows no device") {
  const TemporaryFolder folder;
  if (has_gpus(folder)) FORETRAIN_SKIP("this machine has GPUs");
  folder.write(
      "hwloc.xml",
      R"(<topology version="2.0"><object type="Machine" os_index="0"><object type="Package" os_index="0">
<object type="NUMANode" os_index="0" local_memory="8000000000"/><object type="Core" os_index="0"/>
<object type="Bridge" bridge_type="0-1"><object type="PCIDev" gp_index="9" pci_busid="0000:21:00.0"
 pci_type="0302 [10de:1eb8] [10de:12a2] a1" pci_link_speed="15.75"/></object></object></object></topology>)");
  const ProgramRun run = folder.run(fmt::format(
      "LD_LIBRARY_PATH={} STANDIN_HWLOC=hwloc.xml foretrain topology detect -o one.toml 2>&1", kStandins));
  REQUIRE(run.exit_code == 0);
  const ClusterSpec spec = written_cluster(folder, "one.toml");
  CHECK(spec.node.gpus == 1);
  CHECK(spec.node.gpu.name == "t4");
  CHECK_THAT(folder.read("one.toml"), ContainsSubstring("(sysfs, hwloc)"));
}

TEST_CASE("on a login node Slurm's nodes are the machine") {
  const TemporaryFolder folder;
  if (has_gpus(folder)) FORETRAIN_SKIP("this machine has GPUs");
  folder.write(
      "scontrol",
      "#!/bin/sh\ncase \"$*\" in\n"
      "*node) echo 'NodeName=g[1-4] Gres=gpu:a100:4 Sockets=2 CoresPerSocket=32 RealMemory=512000';;\n"
      "*partition) echo 'PartitionName=gpu MaxNodes=4 MaxTime=2:00:00 State=UP TRES=gres/gpu=16';;\n"
      "*topology) echo 'SwitchName=leaf0 Nodes=g[1-2]'; echo 'SwitchName=leaf1 Nodes=g[3-4]';\n"
      "  echo 'SwitchName=spine Switches=leaf[0-1]';;\nesac\n");
  folder.run("chmod +x scontrol");
  const ProgramRun run = folder.run("PATH=\"$PWD:$PATH\" foretrain topology detect -o slurm.toml 2>&1");
  REQUIRE(run.exit_code == 0);
  const ClusterSpec spec = written_cluster(folder, "slurm.toml");
  CHECK(spec.nodes == 4);
  CHECK(spec.node.gpus == 4);
  CHECK(spec.node.host.cores == 64);
  CHECK(spec.fabric.kind == "fat_tree");
  REQUIRE(spec.site.partitions.size() == 1);
  CHECK(spec.site.partitions[0].most_nodes == 4);
  CHECK_THAT(folder.read("slurm.toml"), ContainsSubstring("itself has no GPU: Slurm's nodes are described"));
}

TEST_CASE("a folder without a machine, and one that is not there, are refused") {
  const TemporaryFolder folder;
  const ProgramRun empty = folder.run("foretrain topology detect --root .");
  CHECK(empty.exit_code == 1);
  CHECK_THAT(empty.output, ContainsSubstring("nothing of a machine is in this folder"));
  CHECK(folder.run("foretrain topology detect --root ./none").exit_code == 1);
  folder.run("mkdir -p node/proc && echo 'MemTotal: 64000000 kB' > node/proc/meminfo");
  const ProgramRun small = folder.run("foretrain topology detect --root node 2>&1");
  CHECK(small.exit_code == 0);
  CHECK_THAT(small.output, ContainsSubstring("not seen: the PCI bus"));
}

TEST_CASE("import takes a copied folder beside what tools print of the same node") {
  const TemporaryFolder folder;
  folder.run(
      "mkdir -p node/proc node/sys/devices/system/cpu/cpu0/topology node/sys/bus/pci/devices && "
      "echo 'MemTotal: 64000000 kB' > node/proc/meminfo; "
      "echo 0 > node/sys/devices/system/cpu/cpu0/topology/core_cpus_list; "
      "for gpu in 1 2; do d=node/sys/bus/pci/devices/0000:0$gpu:00.0; mkdir $d; echo 0x030200 > $d/class; "
      "echo 0x10de > $d/vendor; echo 0x2204 > $d/device; done");
  folder.write("topo.txt", "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0\nGPU1\tNV4\t X \t0\n");
  const ProgramRun run = folder.run("foretrain topology import node/ topo.txt -o two.toml 2>&1");
  REQUIRE(run.exit_code == 0);
  const ClusterSpec spec = written_cluster(folder, "two.toml");
  CHECK(spec.node.gpu.name == "rtx-3090");
  CHECK(to_string(spec.node.host.memory) == "65.5 GB");
  CHECK_THAT(folder.run("foretrain topology check ./two.toml").output,
             ContainsSubstring("4 NVLinks each, full mesh") || ContainsSubstring("4 NVLinks each, one pair"));
}

}  // namespace topology_detect_test
