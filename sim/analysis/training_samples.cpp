// A training log's rate against a simulated step of the same training on this cluster.
#include <fmt/format.h>

#include "sim/analysis/sample_prediction.hpp"
#include "sim/analysis/step_simulator.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Settings of the sample that are keys of a scenario are handed on.
ScenarioOverrides overrides_of(const ClusterSpec& cluster, const Sample& sample) {
  ScenarioOverrides overrides;
  overrides.model = setting_of(sample, "model"), overrides.cluster = cluster.name;
  overrides.strategy = setting_of(sample, "strategy");
  if (const std::int64_t batch = number_of(sample, "batch", 0); batch > 0) overrides.batch = batch;
  overrides.gpus = {sample.gpus};
  if (const std::string precision(setting_of(sample, "precision")); !precision.empty())
    overrides.settings.push_back("model.precision=" + precision);
  for (const auto& [key, value] : sample.settings) {
    if (key.find('.') != std::string::npos) overrides.settings.push_back(key + "=" + value);
  }
  return overrides;
}

}  // namespace

std::optional<double> predict_training_sample(const ClusterSpec& cluster, const Sample& sample, Why why) {
  const auto nothing = [&](const std::string& reason) -> std::optional<double> {
    if (why != nullptr) *why = reason;
    return std::nullopt;
  };
  if (setting_of(sample, "model").empty()) return nothing("the log does not say which network was trained (settings: model=…)");
  const bool is_rate = sample.what == "samples_per_s" && sample.unit == SampleUnit::per_s;
  const bool is_time = sample.what == "step" && sample.unit == SampleUnit::us;
  if (!is_rate && !is_time) return nothing("a training is samples_per_s or step");
  try {
    Scenario scenario = make_scenario(overrides_of(cluster, sample));
    scenario.cluster = cluster;
    StepSimulator simulator(scenario, sample.gpus, sample.nodes);
    simulator.spread(sample.gpus, sample.nodes);
    const double step_s = simulator.step_s(sample.gpus, default_device_model(scenario));
    return is_rate ? static_cast<double>(simulator.global_batch(sample.gpus)) / step_s : step_s * 1e6;
  } catch (const InputError& error) {
    return nothing(error.diagnostics().empty() ? error.what() : error.diagnostics().front().message);
  }
}

}  // namespace foretrain
