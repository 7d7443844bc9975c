// Opens the scenarios of a command line: a name becomes a text, the text a scenario, and reservations of a
// job script are added. A mistake in an option would occur in every scenario and is reported once.
#include "sim/app/opened_scenarios.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/app/named_scenario.hpp"
#include "sim/base/printable.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/import/job_scenario.hpp"
#include "sim/import/machines/machine.hpp"
#include "sim/scenario/sections/parallel_section.hpp"
#include "sim/scenario/sections/scenario_document.hpp"
#include "sim/scenario/variation.hpp"

namespace foretrain {

namespace {

/// Applies the reservation of a job that uses only some GPUs of each node, which TOML cannot express: the job
/// is spread over its nodes and a warning says so.
void apply_reservation(const OpenedJob& job, Scenario& scenario) {
  const JobResources& have = job.script.resources;
  const int nodes = training_nodes(job.script);
  if (is_mixed(scenario.cluster) || !have.gpus_per_node || nodes < 2 ||
      have.gpus_per_node->value >= scenario.cluster.node.gpus)
    return;
  // Only a job that fits into its nodes and has no other layout is spread.
  const std::int64_t most = std::int64_t{nodes} * scenario.cluster.node.gpus;
  const bool fits = nodes <= scenario.cluster.nodes &&
                    std::ranges::all_of(scenario.gpus, [most](int gpus) { return gpus <= most; });
  if (!fits || scenario.layout != Layout::packed) return;
  scenario.layout = Layout::spread;
  scenario.cluster.nodes = nodes;
  scenario.warnings.push_back(
      fmt::format("{} of {} GPUs on each of {} nodes: predicted spread over them, and searched no further",
                  have.gpus_per_node->value, scenario.cluster.node.gpus, nodes));
}

/// Adds warnings, unmodelled settings and the reservation of a job script.
void apply_job(const std::optional<OpenedJob>& job, Scenario& scenario) {
  if (!job) return;
  for (const Diagnostic& warning : job->findings.warnings) scenario.warnings.push_back(one_line(warning));
  for (const TrainingSettings& settings : job->settings)
    for (UnmodelledSetting& setting : unmodelled_settings(settings))
      scenario.unmodelled.push_back(std::move(setting));
  apply_reservation(*job, scenario);
}

/// Adds a warning when the cluster's calibration was measured on another GPU.
void warn_of_other_gpu(Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  for (const auto& [key, value] : cluster.calibration.provenance) {
    if (key == "gpu" && are_different_products(value, cluster.node.gpu.name))
      scenario.warnings.push_back(fmt::format("the calibration {} was measured on {}, and {} has {}",
                                              printable(shortened(cluster.calibration.name, 60)),
                                              printable(shortened(value, 60)), cluster.name,
                                              cluster.node.gpu.name));
  }
}

/// Returns the job's time limit with its place in the script, for a warning when the run takes longer.
std::optional<JobTimeLimit> time_limit_of(const std::optional<OpenedJob>& job) {
  if (!job || !job->script.request.seconds) return std::nullopt;
  const auto& limit = *job->script.request.seconds;
  return JobTimeLimit{limit.value, gpus_of_training(job->script),
                      fmt::format("{}:{}", printable(job->text.name), limit.span.line)};
}

/// Opens one scenario. An empty text means that the options alone are the scenario.
OpenedScenario opened(NamedScenario named, const ScenarioOverrides& overrides, RequestedScaling scaling) {
  Scenario scenario =
      named.source.text.empty() ? make_scenario(overrides) : read_scenario(named.source, overrides);
  apply_job(named.job, scenario);
  warn_of_other_gpu(scenario);
  return {std::move(named.source), scaled(std::move(scenario), scaling), time_limit_of(named.job)};
}

/// Opens one scenario for each strategy.
ComparedScenarios opened_compared(const NamedScenario& named, const ScenarioOverrides& overrides,
                                  const std::vector<std::string>& strategies) {
  ComparedScenarios scenarios = read_compared(named.source, overrides, strategies);
  apply_job(named.job, scenarios.own);
  return scenarios;
}

/// Opens each name and applies `open` to it. Throws the mistakes of all names in one InputError.
template <class Opened, class Open>
std::vector<Opened> open_each(const std::vector<std::string>& names, const ScenarioOverrides& overrides,
                              Open open) {
  std::vector<Opened> all;
  if (names.empty()) all.push_back(open(NamedScenario{}));
  std::vector<Diagnostic> mistakes;
  for (const std::string& name : names) {
    try {
      all.push_back(open(open_scenario(name, overrides)));
    } catch (const InputError& error) {
      for (const Diagnostic& mistake : error.diagnostics()) {
        // Options apply to every scenario, so a mistake in them would be listed once for each.
        const bool is_known = std::ranges::find(mistakes, mistake) != mistakes.end();
        if (!is_known && mistakes.size() < Diagnostics::kMostDiagnostics) mistakes.push_back(mistake);
      }
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  return all;
}

}  // namespace

std::vector<OpenedScenario> open_scenarios(const std::vector<std::string>& names,
                                           const ScenarioOverrides& overrides, RequestedScaling scaling) {
  return open_each<OpenedScenario>(
      names, overrides, [&](NamedScenario named) { return opened(std::move(named), overrides, scaling); });
}

std::vector<ComparedScenarios> open_compared(const std::vector<std::string>& names,
                                             const ScenarioOverrides& overrides,
                                             const std::vector<std::string>& strategies) {
  return open_each<ComparedScenarios>(names, overrides, [&](const NamedScenario& named) {
    return opened_compared(named, overrides, strategies);
  });
}

// Keys that the file or --set states are fixed for a search of layouts; defaults are not.
std::vector<std::string> given_parallel_keys(const SourceText& source, const ScenarioOverrides& overrides) {
  const ScenarioDocument document(source, overrides);
  std::vector<std::string> keys;
  for (const Key<LargeModelRun>& key : parallel_keys())
    if (document.has(fmt::format("parallel.{}", key.name))) keys.emplace_back(key.name);
  return keys;
}

// The scaling of the scenario and `both` leave it as it is.
Scenario scaled(Scenario scenario, RequestedScaling scaling) {
  if (scaling == RequestedScaling::weak) return with_scaling(std::move(scenario), Scaling::weak);
  if (scaling == RequestedScaling::strong) return with_scaling(std::move(scenario), Scaling::strong);
  return scenario;
}

}  // namespace foretrain
