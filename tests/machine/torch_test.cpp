// The same with the PyTorch of this machine on its CPU, where there is one.
#include <filesystem>

#include "tests/machine/machine_folder.hpp"
#include "tests/support/catch.hpp"

namespace torch_test {

using foretrain::test::MachineFolder;
using foretrain::test::MachineOutcome;

TEST_CASE("calibrate machine trains small networks on the CPU with the PyTorch that is there") {
  if (!std::filesystem::exists(FORETRAIN_SOURCE_DIR "/python/foretrain/measure"))
    FORETRAIN_SKIP("the package does not measure");
  const MachineFolder folder;
  std::string python;
  for (const char* candidate : {"python3", "/usr/bin/python3"})
    if (folder.line(std::string(candidate) + " -c 'import torch'").exit_code == 0) python = candidate;
  if (python.empty()) FORETRAIN_SKIP("no Python with PyTorch");
  const MachineOutcome run =
      folder.line("FORETRAIN_PYTHON=" + python +
                  " foretrain calibrate machine -o run --device cpu --budget 40s --networks "
                  "perceptron_small,encoder_small --stages detect,steps,capture,fit,report");
  INFO(run.out);
  CHECK(run.exit_code == 0);
  for (const char* name : {"steps.csv", "kernels.jsonl", "networks/perceptron_small.toml", "report.html"})
    CHECK(folder.has(name));
  CHECK_THAT(folder.text_of("report.md"), ContainsSubstring("| precision | pure\\_bf16 | 1 |") &&
                                              ContainsSubstring("| gemm |") &&
                                              !ContainsSubstring("has no prediction"));
}

}  // namespace torch_test
