// Where a pasted text is cut, and what each block is.
#include "sim/import/pasted/text_blocks.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"

namespace text_blocks_test {

using namespace foretrain;

namespace {

std::vector<BlockKind> kinds_of(const std::vector<TextBlock>& blocks) {
  std::vector<BlockKind> out;
  for (const TextBlock& block : blocks) out.push_back(block.kind);
  return out;
}

std::string command_in(const std::string& line) {
  std::string command = "none";
  return prompted_command(line, command) ? command : "none";
}

}  // namespace

TEST_CASE("prompts of shells and of Python are recognised, other lines are not") {
  CHECK(command_in("$ nvidia-smi") == "nvidia-smi");
  CHECK(command_in("alice@gpu07:~$ nvidia-smi topo -m") == "nvidia-smi topo -m");
  CHECK(command_in("(base) [alice@gpu07 run]$ lscpu") == "lscpu");
  CHECK(command_in("root@gpu07:/# lspci") == "lspci");
  CHECK(command_in("alice@mac ~ % ibstat") == "ibstat");
  CHECK(command_in(">>> print(model)") == "print(model)");
  CHECK(command_in("alice@gpu07:~$") == "");
  CHECK(command_in("it costs 5 $ a day") == "none");
  CHECK(command_in("x = a@b, 50 % of it") == "none");
  CHECK(command_in("") == "none");
}

TEST_CASE("tables that follow each other without a prompt are cut where another tool begins") {
  const auto blocks = text_blocks(
      "GPU 0: NVIDIA L4 (UUID: GPU-1)\nGPU 1: NVIDIA L4 (UUID: GPU-2)\n"
      "\tGPU0\tGPU1\nGPU0\t X \tPHB\nGPU1\tPHB\t X \n\nLegend:\n\n  X = Self\n"
      "Architecture:        x86_64\nCPU(s):              64\n");
  REQUIRE(kinds_of(blocks) == std::vector{BlockKind::gpu_list, BlockKind::matrix, BlockKind::processor_list});
  CHECK(blocks[0].first_line == 1);
  CHECK(blocks[0].last_line == 2);
  CHECK(blocks[1].first_line == 3);
  CHECK(blocks[1].last_line == 9);
  CHECK(blocks[2].text == "Architecture:        x86_64\nCPU(s):              64\n");
}

TEST_CASE("headings and fences of Markdown name what is below them") {
  const auto blocks = text_blocks("## numactl\n```\nnode 0 size: 1 MB\n```\n=== lscpu ===\nCPU(s): 4\n");
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].command == "numactl");
  CHECK(blocks[0].first_line == 3);
  CHECK(blocks[1].command == "lscpu");
}

TEST_CASE("the upper edge and the date of a table go with it") {
  const auto blocks = text_blocks(
      "Mon Nov 23 10:00:00 2026\n+------+\n| NVIDIA-SMI 550.54   Driver Version: 550.54 |\n| x |\n\nbye\n");
  REQUIRE(kinds_of(blocks) == std::vector{BlockKind::gpu_table, BlockKind::unknown});
  CHECK(blocks[0].first_line == 1);
  CHECK(blocks[1].text == "bye\n");
}

TEST_CASE("a log goes on behind what stands between its lines and keeps its line numbers") {
  const auto blocks = text_blocks(
      "step 1: 10 samples/s\nsaved a checkpoint\nn0:1:2 [0] NCCL INFO Using network IB\nstep 2: 12 "
      "samples/s\n");
  REQUIRE(kinds_of(blocks) == std::vector{BlockKind::training_log, BlockKind::unknown, BlockKind::nccl_log});
  CHECK(blocks[0].text == "step 1: 10 samples/s\n\n\nstep 2: 12 samples/s\n");
  CHECK(blocks[0].last_line == 4);
}

TEST_CASE("a progress bar that draws over its line is one line of a log") {
  const auto blocks = text_blocks("10%| 8.5it/s\r20%| 8.6it/s\nloss 2.1\n");
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].kind == BlockKind::training_log);
  CHECK(blocks[0].last_line == 2);
}

TEST_CASE("comments of a measured table cut nothing") {
  const auto blocks =
      text_blocks("# nThread 1 nGpus 2\n#\n#   size  count\n  8  2  float\n# Avg bus bandwidth\n");
  CHECK(kinds_of(blocks) == std::vector{BlockKind::bench_log});
}

TEST_CASE("a hundred thousand lines are cut into blocks that have every line once") {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "prose without a tool\nGPU 0: NVIDIA L4 (UUID: GPU-1)\n";
  const auto blocks = text_blocks(text);
  CHECK(blocks.size() == kMostTextBlocks);
  std::size_t lines = 0;
  for (const TextBlock& block : blocks)
    lines += static_cast<std::size_t>(std::ranges::count(block.text, '\n'));
  CHECK(lines == 100'000);
}

}  // namespace text_blocks_test
