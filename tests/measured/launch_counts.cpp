// Optimizer launches of SGD with momentum and weight decay against those derived from PyTorch's own packing
// (docs/measured/pytorch/optimizer_kernels.csv), exactly, for every network of models/ that the file has.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/measured.hpp"

namespace launch_counts {

using namespace foretrain;

namespace {

bool is_here(const std::string& model) {
  return std::filesystem::exists(FORETRAIN_SOURCE_DIR "/models/" + model + ".toml");
}

int launches(const std::string& model, OptimizerForm form) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  ScenarioOverrides overrides;
  overrides.model = model, overrides.cluster = "puhti", overrides.gpus = {1};
  const Scenario scenario = make_scenario(overrides);
  std::vector<std::int64_t> tensors;
  for (const Parameter& parameter : scenario.workload.model->parameters)
    tensors.push_back(parameter.elements);
  return static_cast<int>(optimizer_launches({OptimizerKind::momentum, form, true}, tensors).size());
}

}  // namespace

TEST_CASE("momentum launches as many kernels as PyTorch's packing makes of each network") {
  std::ifstream rows(test::kMeasured / "pytorch/optimizer_kernels.csv");
  int checked = 0;
  for (std::string line; std::getline(rows, line);) {
    std::istringstream fields(line);
    std::string model;
    int for_loop = 0, foreach = 0;
    char comma = 0;
    if (!std::getline(fields, model, ',') || !(fields >> for_loop >> comma >> foreach) || !is_here(model))
      continue;
    INFO(model);
    CHECK(launches(model, OptimizerForm::for_loop) == for_loop);
    CHECK(launches(model, OptimizerForm::foreach) == foreach);
    ++checked;
  }
  CHECK(checked >= 4);
}

}  // namespace launch_counts
