// compare: scenarios → the same for each strategy → comparisons → report; or the best strategy of each model
// and cluster.
#include "sim/analysis/search/compare.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/search/strategy_matrix.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/app/several_scenarios.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/output_file.hpp"

namespace foretrain {

namespace {

/// Empty names come from empty lists, as in --strategies "".
void refuse_empty(const std::vector<std::string>& names, std::string_view option) {
  if (std::find(names.begin(), names.end(), "") != names.end())
    throw InputError(fmt::format("{} has an empty name", option),
                     fmt::format("names with commas, as in {} a,b", option));
}

void refuse_repeated(const std::vector<std::string>& names, std::string_view option) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      throw InputError(fmt::format("{} has {} twice", option, names[i]));
  }
}

Comparison compared(const ComparedScenarios& scenarios) {
  ProgressLine progress("comparing " + scenarios.own.name);
  return compare(scenarios, [&progress](double done) { progress.show(done); });
}

/// Strategies are what is compared: the combinations of a study are left out.
std::string compare_scenarios(const CompareCommand& command, const std::vector<std::string>& strategies) {
  std::vector<ComparedScenarios> read;
  read_scenarios(command.scenarios, command.overrides, [&](const NamedScenario& named) {
    read.push_back(read_compared(named.source, command.overrides, strategies));
    if (named.job) apply_job(*named.job, read.back().own);
  });
  check_outputs({{"-o", command.output}});
  std::vector<Comparison> comparisons;
  for (const ComparedScenarios& scenarios : read) {
    comparisons.push_back(compared(scenarios));
    if (!scenarios.own.study.axes.empty())
      comparisons.back().warnings.emplace_back(
          "the combinations of [study] are not compared: predict shows them");
  }
  const ComparisonReportEntry& report = *find_comparison_report(command.format);
  const ReportOptions options{.explain = command.explain};
  return comparisons.size() == 1 ? report.write(comparisons.front(), options)
                                 : report.write_several(comparisons, options);
}

std::string compare_pairs(const CompareCommand& command, const std::vector<std::string>& strategies) {
  if (!command.scenarios.empty())
    throw InputError("a scenario has one model and one cluster",
                     "leave SCENARIO out, or --models and --clusters");
  if (command.models.empty() || command.clusters.empty())
    throw InputError("--models and --clusters go together",
                     "as in --models resnet50,bert-base --clusters puhti,mahti --gpus 4");
  if (command.overrides.gpus.size() != 1) throw InputError("how many GPUs?", "one number, as in --gpus 4");
  ProgressLine progress("comparing");
  const StrategyMatrix matrix =
      choose_strategies(command.models, command.clusters, command.overrides, strategies,
                        [&progress](double done) { progress.show(done); });
  progress.clear();
  return find_comparison_report(command.format)->write_matrix(matrix);
}

}  // namespace

void run_compare(const CompareCommand& command) {
  refuse_empty(command.strategies, "--strategies");
  refuse_empty(command.models, "--models"), refuse_empty(command.clusters, "--clusters");
  refuse_repeated(command.models, "--models"), refuse_repeated(command.clusters, "--clusters");
  const std::vector<std::string> strategies = strategies_named(command.strategies);
  if (command.models.empty() && command.clusters.empty())
    return write_output(command.output, compare_scenarios(command, strategies));
  // Two frameworks differ in more than their strategies: which of one is best is the question, unless both
  // are named.
  write_output(command.output,
               compare_pairs(
                   command, command.strategies.empty() ? strategies_of(FrameworkKind::pytorch) : strategies));
}

}  // namespace foretrain
