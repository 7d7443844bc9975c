// What detection asks: files below a root, commands with limits, NVML's answers joined to sysfs's.
#include <chrono>

#include <sys/stat.h>

#include "sim/base/diagnostics.hpp"
#include "sim/import/detection/command_output.hpp"
#include "sim/import/detection/file_tree.hpp"
#include "sim/import/detection/nvml_facts.hpp"
#include "sim/import/detection/slurm_site.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/detection/recorded_tree.hpp"

namespace probes_test {

using namespace foretrain;
using test::RecordedTree;

namespace {

Machine two_sockets_with_gpus(int gpus) {
  Machine machine;
  machine.parts = {{PartKind::socket, -1}, {PartKind::socket, -1}};
  for (int i = 0; i < gpus; ++i) {
    MachinePart part{PartKind::gpu, i * 2 / gpus};
    part.bus = fmt::format("0000:0{}:00.0", i);
    machine.parts.push_back(part);
  }
  return machine;
}

NvmlGpu nvml_gpu(int number, const std::vector<NvmlLink>& links) {
  NvmlGpu gpu;
  gpu.bus = fmt::format("0000:0{}:00.0", number);
  gpu.product = "Tesla V100-SXM2-16GB";
  gpu.clock_mhz = 1530;
  gpu.tells_nvlinks = true;
  gpu.nvlinks = links;
  return gpu;
}

}  // namespace

TEST_CASE("files are read below the root alone, and pipes are not waited for") {
  const RecordedTree tree;
  tree.write("sys/a", "  16  ");
  tree.write("sys/filled", std::string("8\n\0\0\0", 5));
  tree.link("sys/inside", "a");
  tree.link("sys/outside", "/etc/passwd");
  tree.link("sys/above", "../../../../../../../../etc/passwd");
  tree.link("sys/circle", "circle");
  REQUIRE(::mkfifo((tree.root() + "/sys/pipe").c_str(), 0600) == 0);
  tree.write("sys/long", std::string(100'000, 'x'));
  const FileTree files(tree.root());
  CHECK(files.text("sys/a") == "16");
  CHECK(files.text("sys/inside") == "16");
  CHECK(files.text("sys/filled") == "8");
  CHECK(files.real_path("sys/inside") == "sys/a");
  for (const char* path :
       {"sys/outside", "sys/above", "sys/circle", "sys/pipe", "sys", "sys/none", "../etc/passwd"})
    CHECK(files.text(path).empty());
  CHECK(files.text("sys/long").size() == FileTree::kMostBytes);
  CHECK(files.entries("sys") ==
        std::vector<std::string>{"a", "above", "circle", "filled", "inside", "long", "outside", "pipe"});
}

TEST_CASE("commands run without a shell and end at their limits") {
  CHECK(command_output({"echo", "$HOME; ls"}).text == "$HOME; ls\n");
  CHECK(command_output({"cat"}).text.empty());  // no standard input to wait for
  CHECK(command_output({"cat"}).problem.empty());
  const CommandOutput missing = command_output({"no-such-program-anywhere"});
  CHECK_FALSE(missing.is_there);
  CHECK(missing.problem == "is not here");
  CHECK(command_output({"false"}).problem == "ends with 1");
  const auto begin = std::chrono::steady_clock::now();
  CHECK(command_output({"sleep", "60"}, {std::chrono::milliseconds(200)}).problem == "needs more than 0.2 s");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  const CommandOutput endless = command_output({"yes"}, {std::chrono::milliseconds(20'000), 10'000});
  CHECK(endless.problem == "prints more than 10000 bytes");
  CHECK(endless.text.empty());
}

TEST_CASE("a child that outlives its parent's output ends with it") {
  const auto begin = std::chrono::steady_clock::now();
  const CommandOutput out =
      command_output({"sh", "-c", "exec >&-; sleep 60"}, {std::chrono::milliseconds(300)});
  CHECK(out.problem == "was ended");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("NVML's links are between GPUs by address, and to switches otherwise") {
  Machine machine = two_sockets_with_gpus(2);
  const NvmlLink to0{"0000:00:00.0"}, to1{"0000:01:00.0"}, to_switch{""};
  add_nvml(machine, {"", {nvml_gpu(0, {to1, to1, to_switch}), nvml_gpu(1, {to0, to0, to_switch})}, true});
  CHECK(machine.tells_nvlinks);
  CHECK(machine.nvlinks == std::vector<MachineNvlinks>{{0, -1, 1}, {0, 1, 2}, {1, -1, 1}});
  CHECK(machine.gpu_product == "Tesla V100-SXM2-16GB");
  CHECK(machine.peer_access == true);
  CHECK(machine.doubts.empty());
}

TEST_CASE("GPUs that are held back, capped, cut or unlinked are doubts with a hint") {
  Machine machine = two_sockets_with_gpus(2);
  NvmlGpu slow = nvml_gpu(0, {{"0000:01:00.0"}}), cut = nvml_gpu(1, {{"0000:00:00.0"}});
  slow.held_clock_mhz = 1005;
  slow.power_w = 200;
  slow.usual_power_w = 300;
  cut.is_sliced = true;
  cut.nvlinks_down = 5;
  add_nvml(machine, {"", {slow, cut}, false});
  std::vector<std::string> found;
  for (const MachineWarning& doubt : machine.doubts) {
    found.push_back(doubt.what);
    CHECK_FALSE(doubt.hint.empty());
    CHECK(to_string(doubt.place) == "NVML");
  }
  CHECK(found ==
        std::vector<std::string>{"gpu0 is held at 1005 of its 1530 MHz", "gpu0 may take 200 W of its 300 W",
                                 "5 of the 6 NVLinks of gpu1 are down", "gpu1 is cut into slices (MIG)"});
  CHECK(machine.peer_access == false);
}

TEST_CASE("GPUs that NVML alone shows are placed, and fewer than sysfs shows are said") {
  Machine hidden = two_sockets_with_gpus(0 + 1);
  hidden.parts.pop_back();
  add_nvml(hidden, {"", {nvml_gpu(0, {}), nvml_gpu(1, {})}, {}});
  CHECK(gpus_of(hidden) == 2);
  CHECK(hidden.parts.back().parent == 1);
  Machine shared = two_sockets_with_gpus(2);
  add_nvml(shared, {"", {nvml_gpu(0, {})}, {}});
  CHECK_THAT(shared.remarks.front(), ContainsSubstring("NVML shows 1 of the 2 GPUs"));
}

TEST_CASE("Slurm's nodes of the kind of this one are kept, all where it is none of them") {
  const std::string nodes =
      "NodeName=g1 CPUTot=64 Gres=gpu:a100:4 RealMemory=1\nNodeName=g2 CPUTot=64 Gres=gpu:a100:4 "
      "RealMemory=2\n"
      "NodeName=v1 CPUTot=40 Gres=gpu:v100:4 RealMemory=1\n";
  CHECK(nodes_like(nodes, "g2.cluster.example") ==
        "NodeName=g1 CPUTot=64 Gres=gpu:a100:4 RealMemory=1\nNodeName=g2 CPUTot=64 Gres=gpu:a100:4 "
        "RealMemory=2\n");
  CHECK(nodes_like(nodes, "login1") == nodes);
  CHECK(nodes_like("", "login1").empty());
}

}  // namespace probes_test
