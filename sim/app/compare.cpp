// The command compare. It predicts one scenario with each strategy, or finds the best strategy for every pair
// of model and cluster. compare_machines.cpp compares clusters for one training.
//
// `foretrain compare SCENARIO --gpus 4,8` prints a block for each number of GPUs, best strategy first
// (report/comparison/comparison_table.cpp). A strategy that cannot run is a line with its reason and no
// error.
#include "sim/analysis/search/compare.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/analysis/search/strategy_matrix.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/compare_machines.hpp"
#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/opened_scenarios.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/terminal.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/output_file.hpp"
#include "sim/workload/program/program_replays.hpp"

namespace foretrain {

namespace {

/// Throws InputError for an empty name, which comes from an empty list such as --strategies "".
void refuse_empty(const std::vector<std::string>& names, std::string_view option) {
  if (std::find(names.begin(), names.end(), "") != names.end())
    throw InputError(fmt::format("{} has an empty name", option),
                     fmt::format("names with commas, as in {} a,b", option));
}

/// Throws InputError when a name stands twice, since its row would stand twice in the table.
void refuse_repeated(const std::vector<std::string>& names, std::string_view option) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      throw InputError(fmt::format("{} has {} twice", option, names[i]));
  }
}

// Request: options that depend on each other are checked.

/// Returns the strategies to compare, after checks of all lists of names.
std::vector<std::string> requested_strategies(const CompareCommand& command) {
  refuse_empty(command.strategies, "--strategies");
  refuse_empty(command.models, "--models"), refuse_empty(command.clusters, "--clusters");
  refuse_repeated(command.models, "--models"), refuse_repeated(command.clusters, "--clusters");
  return strategies_named(command.strategies);
}

/// Returns true when --models or --clusters asks for the table of best strategies.
bool asks_for_pairs(const CompareCommand& command) {
  return !command.models.empty() || !command.clusters.empty();
}

/// Throws InputError unless --models, --clusters and one number of GPUs are given, and no scenario.
void check_pairs(const CompareCommand& command) {
  if (!command.scenarios.empty())
    throw InputError("a scenario has one model and one cluster",
                     "leave SCENARIO out, or --models and --clusters");
  if (command.models.empty() || command.clusters.empty())
    throw InputError("--models and --clusters go together",
                     "as in --models resnet50,bert-base --clusters puhti,mahti --gpus 4");
  if (command.overrides.gpus.size() != 1) throw InputError("how many GPUs?", "one number, as in --gpus 4");
}

// Analysis.

/// Compares the strategies of one scenario. Combinations of a [study] are not compared, which a warning says.
Comparison compared(const ComparedScenarios& scenarios, const OpenedEvidence& evidence) {
  ProgressLine progress("comparing " + scenarios.own.name);
  Comparison comparison =
      compare(scenarios, [&progress](double done) { progress.show(done); }, {&evidence.field, kOwnSource});
  comparison.warnings.insert(comparison.warnings.end(), evidence.warnings.begin(), evidence.warnings.end());
  if (!scenarios.own.study.axes.empty() && scenarios.names.empty())
    comparison.warnings.emplace_back("the combinations of [study] are not compared: predict shows them");
  return comparison;
}

/// Predicts every strategy for each pair of model and cluster and keeps the fastest.
StrategyMatrix matrix_of(const CompareCommand& command, const std::vector<std::string>& strategies) {
  const OpenedEvidence evidence = open_evidence(command.evidence, EvidenceOf::trainings);
  ProgressLine progress("comparing");
  return choose_strategies(command.models, command.clusters, command.overrides, strategies,
                           [&progress](double done) { progress.show(done); }, {&evidence.field, kOwnSource});
}

// Report.

/// Returns the report in the requested format. Prose is wrapped to the terminal only when it goes there.
std::string report_of(const CompareCommand& command, const std::vector<Comparison>& comparisons) {
  const ComparisonReportEntry& report = *find_comparison_report(command.format);
  ReportOptions options{.explain = command.explain};
  options.quiet = command.quiet;
  if (command.output.empty() || command.output == "-") options.columns = prose_width(STDOUT_FILENO);
  return comparisons.size() == 1 ? report.write(comparisons.front(), options)
                                 : report.write_several(comparisons, options);
}

/// Returns the HTML page, which draws the same JSON that --format json prints.
std::string page_of(const CompareCommand& command, const std::vector<Comparison>& comparisons) {
  PageContent content{"comparison", {}, {}, command.made};
  for (const Comparison& comparison : comparisons)
    content.reports.push_back(write_comparison_json(comparison, {}));
  return write_page(content);
}

/// Returns the table of recorded programs side by side; empty unless every scenario has a recorded program.
std::string programs_beside(const CompareCommand& command, const std::vector<ComparedScenarios>& opened) {
  std::vector<const Program*> programs;
  for (const ComparedScenarios& scenarios : opened) {
    if (scenarios.own.program) programs.push_back(&scenarios.own.program->first());
  }
  const bool is_shown = command.format == "table" && !command.quiet && opened.size() > 1;
  return is_shown && programs.size() == opened.size() ? "\n" + write_programs_table(programs) : "";
}

// The two commands that compare can be.

/// Runs `compare --models … --clusters …`.
void compare_pairs(const CompareCommand& command, const std::vector<std::string>& strategies) {
  check_pairs(command);
  check_outputs({{"-o", command.output}, {"--html", command.html}});
  const StrategyMatrix matrix = matrix_of(command, strategies);
  if (!command.html.empty())
    write_file(command.html, write_page({"strategies", {write_matrix_json(matrix)}, {}, command.made}));
  write_output(command.output, find_comparison_report(command.format)->write_matrix(matrix));
}

/// Runs `compare SCENARIO…`; warnings go to standard error when the format cannot hold them.
void compare_scenarios(const CompareCommand& command, const std::vector<std::string>& strategies) {
  const std::vector<ComparedScenarios> opened =
      open_compared(command.scenarios, command.overrides, strategies);
  check_outputs({{"-o", command.output}, {"--html", command.html}});
  const OpenedEvidence evidence = open_evidence(command.evidence, EvidenceOf::trainings);
  std::vector<Comparison> comparisons;
  for (const ComparedScenarios& scenarios : opened) comparisons.push_back(compared(scenarios, evidence));
  if (!command.html.empty()) write_file(command.html, page_of(command, comparisons));
  write_report(command.output, command.format,
               report_of(command, comparisons) + programs_beside(command, opened));
  for (const Comparison& comparison : comparisons) warn_beside(command.format, comparison.warnings);
}

}  // namespace

// --gpu names become clusters first, so that the choice between the three comparisons sees them.
void run_compare(const CompareCommand& asked) {
  refuse_empty(asked.gpu_kinds, "--gpu"), refuse_repeated(asked.gpu_kinds, "--gpu");
  const CompareCommand command = with_gpu_servers(asked);
  const std::vector<std::string> strategies = requested_strategies(command);
  if (asks_for_machines(command)) return compare_clusters(command);
  refuse_idle_machine_options(command);
  asks_for_pairs(command) ? compare_pairs(command, strategies) : compare_scenarios(command, strategies);
}

}  // namespace foretrain
