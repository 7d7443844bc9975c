// What goes wrong on a machine is said in a sentence; what was measured before and can be after is kept.
#include "tests/machine/machine_folder.hpp"
#include "tests/support/catch.hpp"

namespace machine_failures_test {

using test_folder = foretrain::test::MachineFolder;
using foretrain::test::MachineOutcome;

namespace {

struct Failure {
  const char* fault;
  int exit_code;
  const char* said;  ///< part of the report
  bool has_steps;
};

constexpr Failure kFailures[] = {
    {"killed", 3, "The program of steps ended with SIGKILL.", true},
    {"dies", 3, "ended with exit code 1. It said: RuntimeError: CUDA error", true},
    {"lying_torch", 3, "PyTorch sees no GPU", false},
    {"no_torch", 3, "Python has no PyTorch.", false},
    {"out_of_memory", 0, "was not measured: out of memory.", true},
    {"no_capture", 3, "The program of capture ended with exit code 1.", true},
    {"no_kernels", 3, "It said: error: no trace can be read.", true},
};

}  // namespace

TEST_CASE("each failure of the measuring program is said, and the other stages run") {
  for (const Failure& failure : kFailures) {
    const test_folder folder;
    const MachineOutcome run = folder.run_without_bench("", std::string("FAKE_FAULT=") + failure.fault);
    INFO(failure.fault << "\n" << run.out);
    CHECK(run.exit_code == failure.exit_code);
    std::string report = folder.text_of("report.md");
    std::erase(report, '\\');
    CHECK_THAT(report, ContainsSubstring(failure.said));
    CHECK(folder.has("steps.csv") == failure.has_steps);
    CHECK(folder.has("cluster.toml"));
  }
}

TEST_CASE("a half line counts for nothing and is cut off") {
  const test_folder folder;
  CHECK(folder.run_without_bench("", "FAKE_FAULT=killed").exit_code == 3);
  CHECK(folder.text_of("steps.jsonl").ends_with("}\n"));
  CHECK(folder.run_without_bench("--resume").exit_code == 0);
  CHECK_THAT(folder.text_of("report.md"), ContainsSubstring("| all | all | 12 |"));
}

TEST_CASE("a program that hangs is ended when its time is over") {
  const test_folder folder;
  const MachineOutcome run = folder.run("--budget 9s --stages detect,steps,report", "FAKE_FAULT=hangs");
  INFO(run.out);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, ContainsSubstring(
                          "The program of steps was ended when its time was over. 3 steps were measured."));
}

TEST_CASE("without Python and without foretrain-bench nothing is measured, and the run says so") {
  const test_folder folder;
  const MachineOutcome run = folder.line(
      "FORETRAIN_PYTHON=/no/python PATH=\"${PATH%%:*}\" foretrain calibrate machine -o run --budget 20s");
  INFO(run.out);
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.out, ContainsSubstring("Python cannot be run") &&
                          ContainsSubstring("foretrain-bench is neither beside foretrain nor on the PATH") &&
                          ContainsSubstring("error: nothing was measured"));
}

TEST_CASE("a full disk ends the run, and nothing half-written counts") {
  const test_folder folder;
  // Two blocks are less than the steps need.
  const MachineOutcome full = folder.line(
      "ulimit -f 2\nFAKE_DEVICE=cuda FAKE_GPU='NVIDIA H100 80GB HBM3' foretrain calibrate machine -o run "
      "--budget "
      "30s --stages detect,steps,capture,fit,report");
  INFO(full.out);
  CHECK(full.exit_code == 3);
  CHECK((folder.text_of("steps.jsonl").empty() || folder.text_of("steps.jsonl").ends_with("}\n")));
  const test_folder whole;
  CHECK(whole.run_without_bench("").exit_code == 0);
  CHECK(folder.run_without_bench("--resume").exit_code == 0);
  CHECK(folder.text_of("steps.csv") == whole.text_of("steps.csv"));
}

TEST_CASE("wrong words and folders are refused before anything is made") {
  const test_folder folder;
  const auto refused = [&folder](const std::string& words, const std::string& said) {
    const MachineOutcome run = folder.line("foretrain calibrate machine " + words);
    INFO(words << "\n" << run.out);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.out, ContainsSubstring(said));
    CHECK_FALSE(folder.has("progress.toml"));
  };
  refused("-o run --budget 5s", "error: a budget of 5 s is too short");
  refused("-o run --budget soon", "error: --budget soon:");
  refused("-o run --stages bnch", "did you mean \"bench\"?");
  refused("-o run --networks ../a", "is no name");
  refused("-o run --resume", "error: run holds no run to go on with");
  CHECK_FALSE(folder.has(""));
  folder.line("mkdir other && touch other/mine file");
  refused("-o other", "error: other is not empty, and it holds no run");
  refused("-o file", "error: file is no folder");
}

TEST_CASE("what is wrong with the GPUs stands in the report") {
  const test_folder folder;
  if (folder.line("grep -lE '0x(10de|1002)' /sys/bus/pci/devices/*/vendor").exit_code == 0)
    FORETRAIN_SKIP("this machine has GPUs");
  const MachineOutcome run = folder.line(
      "printf 'gpu 00000000:10:00.0 9.0 81559 1980 1980 NVIDIA H100 80GB HBM3\\ngpu 00000000:20:00.0 9.0 "
      "81559 "
      "1980 1200 NVIDIA H100 80GB HBM3\\n' > nvml.txt\n"
      "LD_LIBRARY_PATH=\"$NODE_STANDINS\" STANDIN_NVML=\"$PWD/nvml.txt\" foretrain calibrate machine -o run "
      "--budget 20s --stages detect,report");
  INFO(run.out);
  CHECK(run.exit_code == 0);
  CHECK_THAT(folder.text_of("report.md"), ContainsSubstring("gpu1 is held at 1200 of its 1980 MHz"));
  CHECK_THAT(folder.text_of("cluster.toml"), ContainsSubstring("gpu = \"h100-sxm5-80gb\""));
}

TEST_CASE("a run of another version is not gone on with") {
  const test_folder folder;
  CHECK(folder.run_without_bench("", "FAKE_FAULT=interrupts").exit_code == 130);
  folder.line("sed -i 's/^version = .*/version = \"0.0.1\"/' run/progress.toml");
  const MachineOutcome other = folder.run_without_bench("--resume");
  CHECK(other.exit_code == 1);
  CHECK_THAT(other.out, ContainsSubstring("error: run holds a run of foretrain 0.0.1, which foretrain "));
  CHECK_THAT(folder.text_of("progress.toml"), ContainsSubstring("0.0.1"));
}

TEST_CASE("two runs in one folder do not mix") {
  const test_folder folder;
  CHECK(folder.run_without_bench("").exit_code == 0);
  const MachineOutcome other = folder.line("flock -x run foretrain calibrate machine -o run --resume");
  INFO(other.out);
  CHECK(other.exit_code == 1);
  CHECK_THAT(other.out, ContainsSubstring("error: another run works in run"));
  CHECK(folder.run("--resume --device cpu").exit_code == 1);
}

TEST_CASE("a dry run says what would run, for how long, and what is missing, and writes nothing") {
  const test_folder folder;
  const MachineOutcome run =
      folder.line("FORETRAIN_PYTHON=/no/python foretrain calibrate machine -o run --dry-run");
  INFO(run.out);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, ContainsSubstring("steps          240  times training steps of networks") &&
                          ContainsSubstring("Python cannot be run") &&
                          ContainsSubstring("All together take 480 s at most. Nothing was run or written."));
  const MachineOutcome torchless = folder.line("FAKE_FAULT=no_torch foretrain calibrate machine --dry-run");
  CHECK_THAT(torchless.out, ContainsSubstring("Python has no PyTorch"));
  CHECK_THAT(folder.line("foretrain calibrate machine --dry-run").out, !ContainsSubstring("Python has no"));
  CHECK_FALSE(folder.has(""));
}

}  // namespace machine_failures_test
