// `foretrain FILE`, `paste`, `topology import` and `topology questions` of a pasted text, as typed.
#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace paste_command_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

const std::string kSession = std::string(FORETRAIN_SOURCE_DIR) + "/docs/tutorials/machines/session.txt";

}  // namespace

TEST_CASE("a file of many tools is told from scenarios and job scripts, and its blocks are listed") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run("cp " + kSession + " s.txt; foretrain s.txt");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("22-33        nvidia-smi topo -m   2 GPUs, NVLinks"));
  CHECK_THAT(run.output, ContainsSubstring("12 nodes with 2x a100-sxm4-80gb."));
  CHECK(folder.run("foretrain paste s.txt").output == run.output);
  folder.write("one.txt", "Architecture: x86_64\nCPU(s): 8\nCore(s) per socket: 8\nSocket(s): 1\n");
  CHECK_THAT(folder.run("foretrain one.txt").output, ContainsSubstring("lscpu"));
  folder.write("prose.txt", "hello\n");
  CHECK_THAT(folder.run("foretrain paste prose.txt").output, ContainsSubstring("no tool that is known"));
  folder.write(
      "mine.scenario",
      "# loss was 0.3 here\n[model]\nname = \"resnet50\"\n[cluster]\nname = \"puhti\"\n[run]\ngpus = [1]\n");
  CHECK_THAT(folder.run("foretrain mine.scenario").output, ContainsSubstring("resnet50"));
}

TEST_CASE("a pasted text becomes a cluster file, and questions about it end when they are answered") {
  const TemporaryFolder folder;
  const ProgramRun made = folder.run("foretrain topology import " + kSession + " -o mine.toml");
  INFO(made.output);
  CHECK(made.exit_code == 0);
  CHECK_THAT(made.output, ContainsSubstring("note: ") && ContainsSubstring("no reader takes the 2 lines"));
  CHECK(folder.run("foretrain topology check ./mine.toml").exit_code == 0);
  const ProgramRun questions = folder.run("foretrain topology questions ./mine.toml");
  CHECK(questions.exit_code == 0);
  CHECK(questions.output.find("nvidia-smi -L") == std::string::npos);
  CHECK(std::ranges::count(questions.output, '\n') <= 10);
  folder.write("blocks.txt", "GPU 0: NVIDIA L4 (UUID: 1)\nGPU 1: NVIDIA L4 (UUID: 2)\n");
  CHECK_THAT(folder.run("foretrain topology questions blocks.txt").output,
             ContainsSubstring("the most influential first"));
  CHECK(folder.run("foretrain topology questions missing.toml").exit_code == 1);
}

TEST_CASE("blocks of two machines end the import with both lines") {
  const TemporaryFolder folder;
  folder.write("two.txt",
               "GPU 0: NVIDIA L4 (UUID: 1)\n$ sinfo -o ...\nPARTITION NODES GRES CPUS MEMORY\n"
               "gpu 12 gpu:v100:4 64 100000\n");
  const ProgramRun run = folder.run("foretrain topology import two.txt");
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.output, ContainsSubstring("two.txt:1") && ContainsSubstring("two.txt:3"));
  CHECK_THAT(folder.run("foretrain two.txt").output, ContainsSubstring("two.txt:3"));
}

}  // namespace paste_command_test
