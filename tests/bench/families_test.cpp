// Every family of foretrain-bench on the made-up machine: what it plans it measures, and the same again.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "tests/bench/bench_run.hpp"
#include "tests/support/catch.hpp"

namespace families_test {

using namespace foretrain;
using test::BenchFolder;
using test::BenchOutcome;

namespace {

std::size_t planned(const BenchFolder& folder, const std::string& family) {
  const std::string list = "\n" + folder.run("--list").out;
  const std::size_t line = list.find("\n" + family + " ") + 1, points = list.find(" points", line);
  REQUIRE(points < list.find('\n', line));
  return static_cast<std::size_t>(std::atoi(list.c_str() + list.rfind(' ', points - 1) + 1));
}

/// A family with little memory: points beyond it are skipped for that reason alone, all others are measured.
std::vector<Sample> measured(const std::string& family, const std::string& memory) {
  const BenchFolder folder;
  const BenchOutcome run =
      folder.run("-o samples.csv --only " + family, "FORETRAIN_STANDIN_MEMORY=" + memory);
  INFO(family << "\n" << run.out << run.err);
  CHECK(run.exit_code == 0);
  CHECK(run.err.empty());
  CHECK(folder.files() == std::vector<std::string>{"samples.csv"});
  const std::vector<Sample> samples = folder.samples("samples.csv");
  std::size_t skipped = 0;
  for (std::size_t at = run.out.find(" skipped: "); at != std::string::npos;
       at = run.out.find(" skipped: ", at + 1)) {
    const std::size_t line = run.out.rfind('\n', at) + 1;
    skipped +=
        static_cast<std::size_t>(std::atoi(run.out.c_str() + (line == std::string::npos + 1 ? 0 : line)));
  }
  CHECK(samples.size() + skipped == planned(folder, family));
  for (const Sample& sample : samples) {
    CHECK(kSampleKindNames[static_cast<std::size_t>(sample.kind)] == family);
    CHECK(sample.value > 0);
    CHECK(setting_of(sample, "clock_mhz") == "1410");
  }
  return samples;
}

}  // namespace

TEST_CASE("the machine is what CUDA and NVML say of it, and every family has points") {
  const BenchFolder folder;
  CHECK(folder.run("--only host -o samples.csv").exit_code == 0);
  const std::string text = folder.text_of("samples.csv");
  for (const char* line : {"# gpu: Made-up GPU\n", "# gpus: 2\n", "# compute_capability: 8.0\n",
                           "# topology: 0-1:NV4\n", "# driver: 550.0.0\n", "# pcie: gen4 x16\n",
                           "# cublas: 12.4.0\n", "# cudnn: 9.1.0\n", "# nccl: 2.20.5\n", "# cuda: 12.4\n"})
    CHECK_THAT(text, ContainsSubstring(line));
  for (const char* family : {"host", "gemm", "copy", "memory", "collective", "conv", "mix", "tax", "cpu"})
    CHECK(planned(folder, family) > 0);
}

TEST_CASE("host, memory and copies are measured, what is too large for the GPU is left out with the reason") {
  CHECK(measured("host", "1e9").size() == 15);
  CHECK(measured("memory", "1e9").size() == 21);
  CHECK(measured("copy", "20e6").size() == 35);
}

TEST_CASE("products and convolutions are right and measured in every precision") {
  std::map<std::string, int> precisions;
  for (const Sample& sample : measured("gemm", "900e6"))
    ++precisions[std::string(setting_of(sample, "precision"))];
  CHECK(precisions ==
        std::map<std::string, int>{{"bf16", 28}, {"fp16", 28}, {"fp32", 27}, {"fp64", 21}, {"tf32", 27}});
  CHECK(measured("conv", "900e6").size() == 414);
}

TEST_CASE("the operators of ResNet-50 and BERT-base run in a row") {
  CHECK(measured("mix", "8e9").size() == 16);
}

TEST_CASE("collectives of two GPUs are right, and forced algorithms are measured in child processes") {
  const std::vector<Sample> samples = measured("collective", "300e6");
  const auto has = [&](const char* what, int gpus, const char* algorithm) {
    return std::any_of(samples.begin(), samples.end(), [&](const Sample& s) {
      return s.what == what && s.gpus == gpus && setting_of(s, "nccl.algorithm") == algorithm;
    });
  };
  for (const char* what :
       {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "alltoall", "sendrecv", "reduce"})
    CHECK(has(what, 2, ""));
  CHECK(has("all_reduce", 2, "ring"));
  CHECK(has("all_reduce", 2, "tree"));
}

TEST_CASE("what a collective takes of compute is measured with each number of channels") {
  std::map<std::string, int> channels;
  for (const Sample& sample : measured("tax", "720e6"))
    ++channels[std::string(setting_of(sample, "channels"))];
  CHECK(channels == std::map<std::string, int>{{"", 3}, {"16", 3}, {"2", 3}, {"4", 3}, {"8", 3}});
}

TEST_CASE("what needs no GPU is measured without the libraries") {
  const BenchFolder folder;
  const BenchOutcome run =
      folder.run("--host-only --budget 1s -o samples.csv", "FORETRAIN_STANDIN_FAIL=cudaGetDeviceCount=100");
  CHECK(run.exit_code == 0);
  CHECK_FALSE(folder.samples("samples.csv").empty());
}

TEST_CASE("two runs measure the same to the last digit, and a second one measures nothing again") {
  const BenchFolder folder;
  const std::string some = " --only host,memory";
  CHECK(folder.run("-o a.csv" + some).exit_code == 0);
  CHECK(folder.run("-o b.csv" + some).exit_code == 0);
  const auto rows = [&](const char* name) {
    const std::string text = folder.text_of(name);
    return text.substr(text.find("kind,what"));
  };
  CHECK(rows("a.csv") == rows("b.csv"));
  const BenchOutcome again = folder.run("-o a.csv" + some);
  CHECK_THAT(again.out, ContainsSubstring("0 points measured, "));
  CHECK(rows("a.csv") == rows("b.csv"));
}

}  // namespace families_test
