// compare: scenario → the same for each strategy → comparison → report; or the best strategy of each model and cluster.
#include "sim/analysis/compare.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/strategy_matrix.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/named_scenario.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/report/comparison_catalog.hpp"
#include "sim/report/output_file.hpp"

namespace foretrain {

namespace {

/// Empty names come from empty lists, as in --strategies "".
void refuse_empty(const std::vector<std::string>& names, std::string_view option) {
  if (std::find(names.begin(), names.end(), "") != names.end())
    throw InputError(fmt::format("{} has an empty name", option), fmt::format("names with commas, as in {} a,b", option));
}

void refuse_repeated(const std::vector<std::string>& names, std::string_view option) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      throw InputError(fmt::format("{} has {} twice", option, names[i]));
  }
}

std::string compare_one(const CompareCommand& command, const std::vector<std::string>& strategies) {
  const SourceText source = command.scenario.empty() ? SourceText{} : open_scenario(command.scenario, command.overrides).source;
  const ComparedScenarios scenarios = read_compared(source, command.overrides, strategies);
  ProgressLine progress("comparing " + scenarios.own.name);
  const Comparison comparison = compare(scenarios, [&progress](double done) { progress.show(done); });
  progress.clear();
  return find_comparison_report(command.format)->write(comparison, {.explain = command.explain});
}

std::string compare_pairs(const CompareCommand& command, const std::vector<std::string>& strategies) {
  if (!command.scenario.empty())
    throw InputError("a scenario has one model and one cluster", "leave SCENARIO out, or --models and --clusters");
  if (command.models.empty() || command.clusters.empty())
    throw InputError("--models and --clusters go together", "as in --models resnet50,bert-base --clusters puhti,mahti --gpus 4");
  if (command.overrides.gpus.size() != 1) throw InputError("how many GPUs?", "one number, as in --gpus 4");
  ProgressLine progress("comparing");
  const StrategyMatrix matrix =
      choose_strategies(command.models, command.clusters, command.overrides, strategies, [&progress](double done) { progress.show(done); });
  progress.clear();
  return find_comparison_report(command.format)->write_matrix(matrix);
}

}  // namespace

void run_compare(const CompareCommand& command) {
  refuse_empty(command.strategies, "--strategies");
  refuse_empty(command.models, "--models"), refuse_empty(command.clusters, "--clusters");
  refuse_repeated(command.models, "--models"), refuse_repeated(command.clusters, "--clusters");
  const std::vector<std::string> strategies = strategies_named(command.strategies);
  if (command.models.empty() && command.clusters.empty()) return write_output(command.output, compare_one(command, strategies));
  // Two frameworks differ in more than their strategies: which of one is best is the question, unless both are named.
  write_output(command.output, compare_pairs(command, command.strategies.empty() ? strategies_of(FrameworkKind::pytorch) : strategies));
}

}  // namespace foretrain
