// compare --clusters: predicts one training on several clusters and says which of them to use. Each cluster
// opens the scenario anew, so that defaults that depend on the cluster apply.
//
// `foretrain compare SCENARIO --clusters A,B --gpus 1,2` prints a verdict and a line for each cluster and
// number of GPUs (report/comparison/machines_table.cpp). Machines that cannot run the training stand last.
#include "sim/app/compare_machines.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/search/machines.hpp"
#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/opened_scenarios.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/gpu_servers.hpp"

namespace foretrain {

namespace {

// Request: options that depend on each other are checked.

/// Throws InputError for options that belong to another kind of comparison.
void refuse_other_questions(const CompareCommand& command) {
  if (command.scenarios.empty() && command.overrides.model.empty())
    throw InputError("--clusters compares machines for one training, and none is named",
                     "a SCENARIO, --model resnet50, or --models for the best strategy of each");
  if (command.scenarios.size() > 1)
    throw InputError("--clusters compares machines for one training", "ask once for each scenario");
  if (!command.overrides.cluster.empty())
    throw InputError("--cluster names one machine and --clusters several", "leave one of them out");
  if (!command.strategies.empty())
    throw InputError("--clusters compares machines, and --strategies compares strategies",
                     "give one strategy to all machines, as in --set strategy.name=ddp");
  if (!command.html.empty())
    throw InputError("--html has no page of machines", "--format json or csv holds all figures");
}

/// Throws InputError for a price of a cluster that is not compared, as this can only be a typing error.
void refuse_other_prices(const CompareCommand& command) {
  for (const auto& [cluster, price] : command.machines.prices)
    if (std::ranges::find(command.clusters, cluster) == command.clusters.end())
      throw InputError(fmt::format("--price names {}, which --clusters does not", cluster));
}

/// Returns the function by which the analysis opens the training on a cluster with given numbers of GPUs.
OpenOnMachine opener_of(const CompareCommand& command) {
  return [&command](const std::string& cluster, const std::vector<int>& gpus) {
    ScenarioOverrides overrides = command.overrides;
    overrides.cluster = cluster, overrides.gpus = gpus;
    return std::move(
        open_scenarios(command.scenarios, overrides, RequestedScaling::of_scenario).front().scenario);
  };
}

/// Returns the numbers of --gpus, or those that the scenario lists. The scenario is opened on the first
/// cluster that can serve them. Throws the first cluster's InputError when none can.
std::vector<int> numbers_of(const CompareCommand& command, const OpenOnMachine& open) {
  if (!command.overrides.gpus.empty()) return command.overrides.gpus;
  std::optional<InputError> first_mistake;
  for (const std::string& cluster : command.clusters) {
    try {
      const Scenario scenario = open(cluster, {});
      if (scenario.lists_gpus) return scenario.gpus;
      throw InputError("how many GPUs?", "one number or several, as in --gpus 1,2");
    } catch (const InputError& error) {
      if (!first_mistake) first_mistake = error;
    }
  }
  throw *first_mistake;
}

// Analysis.

/// Runs the comparison and adds warnings about evidence that could not be read.
MachineComparison compared(const CompareCommand& command) {
  const OpenOnMachine open = opener_of(command);
  const std::vector<int> gpus = numbers_of(command, open);
  const OpenedEvidence evidence = open_evidence(command.evidence, EvidenceOf::trainings);
  ProgressLine progress("comparing machines");
  MachineComparison comparison =
      compare_machines(command.clusters, gpus, open, command.machines,
                       [&progress](double done) { progress.show(done); }, {&evidence.field, kOwnSource});
  comparison.warnings.insert(comparison.warnings.end(), evidence.warnings.begin(), evidence.warnings.end());
  return comparison;
}

}  // namespace

// kGpuServer is a prefix; a cluster of that name is made by the catalog when it is opened.
CompareCommand with_gpu_servers(CompareCommand command) {
  std::vector<Diagnostic> mistakes;
  for (const std::string& name : command.gpu_kinds) {
    try {
      const std::string gpu = gpu_named(name), cluster = std::string(kGpuServer) + gpu;
      command.clusters.push_back(cluster);
      // A price may be given under the name as typed or as in the catalog; it is moved to the server's name.
      for (const std::string& priced : {name, gpu})
        if (auto price = command.machines.prices.extract(priced)) {
          price.key() = cluster;
          command.machines.prices.insert(std::move(price));
        }
    } catch (const InputError& error) {
      mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  return command;
}

// With --models the clusters belong to the table of best strategies instead.
bool asks_for_machines(const CompareCommand& command) {
  return command.models.empty() && !command.clusters.empty();
}

// An option without effect is refused, so that nobody believes that it had one.
void refuse_idle_machine_options(const CompareCommand& command) {
  if (!command.machines.deadline_s && !command.machines.has_prices()) return;
  throw InputError(fmt::format("{} compares machines, and none are named",
                               command.machines.deadline_s ? "--deadline" : "--price"),
                   "--clusters A,B names them; foretrain predict --recommend finds a job on one of them");
}

void compare_clusters(const CompareCommand& command) {
  refuse_other_questions(command);
  refuse_other_prices(command);
  check_outputs({{"-o", command.output}});
  const MachineComparison comparison = compared(command);
  ReportOptions options{.explain = command.explain};
  options.quiet = command.quiet;
  const ComparisonReportEntry& report = *find_comparison_report(command.format);
  write_report(command.output, command.format, report.write_machines(comparison, options));
  warn_beside(command.format, comparison.warnings);
}

}  // namespace foretrain
