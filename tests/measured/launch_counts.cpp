// Optimizer launches of SGD with momentum and weight decay against those derived from PyTorch's own packing
// (../shared/facts/measured/ops_per_iteration.json), exactly, for every network of models/ that the file has.
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"

namespace launch_counts {

using namespace foretrain;

namespace {

const std::filesystem::path kFacts = FORETRAIN_SOURCE_DIR "/../shared/facts/measured/ops_per_iteration.json";

bool is_here(const std::string& model) { return std::filesystem::exists(FORETRAIN_SOURCE_DIR "/models/" + model + ".toml"); }

int launches(const std::string& model, OptimizerForm form) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  ScenarioOverrides overrides;
  overrides.model = model, overrides.cluster = "puhti", overrides.gpus = {1};
  const Scenario scenario = make_scenario(overrides);
  std::vector<std::int64_t> tensors;
  for (const Parameter& parameter : scenario.workload.model->parameters) tensors.push_back(parameter.elements);
  return static_cast<int>(optimizer_launches({OptimizerKind::momentum, form, true}, tensors).size());
}

}  // namespace

TEST_CASE("momentum launches as many kernels as PyTorch's packing makes of each network") {
  if (!std::filesystem::exists(kFacts)) FORETRAIN_SKIP("no ../shared/facts");
  int checked = 0;
  for (const nlohmann::json& row : nlohmann::json::parse(std::ifstream(kFacts))) {
    const std::string model = row.at("name");
    if (!is_here(model)) continue;
    INFO(model);
    CHECK(launches(model, OptimizerForm::for_loop) == row.at("sgd_mom_wd_forloop_kernels").get<int>());
    CHECK(launches(model, OptimizerForm::foreach) == row.at("sgd_mom_wd_foreach_kernels_est").get<int>());
    ++checked;
  }
  CHECK(checked >= 4);
}

}  // namespace launch_counts
