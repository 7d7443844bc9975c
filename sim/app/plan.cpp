// The command plan: searches the layouts of a large model (tensor, pipeline, data, context and expert
// parallelism) for given numbers of GPUs. It prints the layouts that fit, fastest first, and can write a job
// script for the best one.
//
// `foretrain plan --model llama3_70b --cluster NAME --gpus 64` prints the answer and a ranked table
// (report/plan). That no layout fits is an answer with exit code 0, unless a job script was requested.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/answer/plan_answer.hpp"
#include "sim/analysis/search/layout_points.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/job_script_files.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/named_scenario.hpp"
#include "sim/app/opened_scenarios.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/plan/plan_reports.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

// Largest number of tokens or sequences of a global batch.
constexpr double kMostTokens = 1e15;

/// Returns the number that a text such as 1024, 4M, 500k or 1e6 spells; nothing for any other text.
std::optional<double> parse_amount(const std::string& text) {
  std::size_t used = 0;
  double number = 0;
  try {
    number = std::stod(text, &used);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  const std::string suffix = text.substr(used);
  const double unit = suffix == "k"    ? 1e3
                      : suffix == "M"  ? 1e6
                      : suffix == "G"  ? 1e9
                      : suffix.empty() ? 1
                                       : 0;
  const double amount = number * unit;
  return amount >= 1 && amount <= kMostTokens ? std::optional(amount) : std::nullopt;
}

/// Returns the global batch in sequences; 0 when it is not given. A number of tokens is rounded to a power of
/// two of sequences, since that has many divisors and thus many layouts.
std::int64_t sequences_of(const std::string& text, std::int64_t sequence) {
  if (text.empty()) return 0;
  constexpr std::string_view kTokens = "-tokens";
  const bool in_tokens = text.ends_with(kTokens);
  const auto amount = parse_amount(in_tokens ? text.substr(0, text.size() - kTokens.size()) : text);
  if (!amount)
    throw InputError(fmt::format("--global-batch {} is no number of sequences or tokens", text.substr(0, 40)),
                     "as in 1024 or 4M-tokens");
  if (!in_tokens) return static_cast<std::int64_t>(*amount);
  return std::int64_t{1} << static_cast<int>(
             std::lround(std::max(0.0, std::log2(*amount / static_cast<double>(sequence)))));
}

/// Returns the numbers of GPUs to plan for, ascending and without repeats. --nodes counts whole nodes. Throws
/// InputError when the cluster has fewer GPUs.
std::vector<int> numbers_of(const PlanCommand& command, const Scenario& scenario) {
  std::vector<int> numbers = command.gpus;
  for (const int nodes : command.nodes) {
    const std::int64_t gpus = std::int64_t{nodes} * scenario.cluster.node.gpus;
    // The cap keeps the product within an int; a larger number is refused below.
    numbers.push_back(static_cast<int>(std::min(gpus, gpus_of_job(scenario) + 1)));
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.back() > gpus_of_job(scenario))
    throw InputError(fmt::format("cluster {} has only {} GPUs", scenario.cluster.name, gpus_of_job(scenario)),
                     command.nodes.empty() ? "fewer with --gpus" : "fewer with --nodes");
  return numbers;
}

/// Throws InputError unless exactly one of --gpus and --nodes is given.
void check_numbers(const PlanCommand& command) {
  if (command.gpus.empty() == command.nodes.empty())
    throw InputError(command.gpus.empty() ? "how many GPUs?" : "--gpus and --nodes say the same twice",
                     "as in --gpus 64, --gpus 8,16,32 or --nodes 1,2,4");
}

/// Adds intervals to the rows that are shown; others are left without, because each interval takes several
/// simulations.
void add_intervals(const Scenario& scenario, const PlanCommand& command, PlannedCounts& plan) {
  const std::size_t top = plan.counts.size() == 1 ? static_cast<std::size_t>(command.top) : 0;
  for (PlannedCount& count : plan.counts) {
    std::vector<std::size_t> rows = shown_rows(count.search, top);
    // With several numbers of GPUs, only the best layout of each is shown.
    if (plan.counts.size() > 1) rows.resize(std::min<std::size_t>(rows.size(), 1));
    add_intervals(scenario, rows, count.search);
  }
}

/// Runs the search for every number of GPUs, with a progress line.
PlannedCounts planned(const Scenario& scenario, const PlanCommand& command, const LayoutRequest& request) {
  ProgressLine progress("planning " + scenario.name);
  PlannedCounts plan = plan_counts(scenario, numbers_of(command, scenario), request,
                                   [&progress](double done) { progress.show(done); });
  add_intervals(scenario, command, plan);
  plan.answer = answer_of(scenario, plan);
  return plan;
}

/// Returns job scripts for the largest number of GPUs that pays. Throws InputError when no layout fits.
std::vector<FileText> scripts_of(const Scenario& scenario, const PlanCommand& command,
                                 const PlannedCounts& plan) {
  if (!asks_for_script(command.scripts)) return {};
  if (!plan.best) throw InputError("there is no job to write a script for: " + plan.answer.verdict);
  return job_script_files(command.scripts, plan_of_layout(scenario, *plan.counts[*plan.best].best()));
}

}  // namespace

// Everything is computed before the first file is written, so that an error leaves no partial results.
void run_plan(const PlanCommand& command) {
  check_numbers(command);
  check_outputs({{"-o", command.output},
                 {"--html", command.html},
                 {"--sbatch", command.scripts.sbatch},
                 {"--condor", command.scripts.condor},
                 {"--job-script", command.scripts.job_script}});
  std::vector<std::string> names;
  if (!command.scenario.empty()) names.push_back(command.scenario);
  ScenarioOverrides overrides = command.overrides;
  const NamedScenario named = names.empty() ? NamedScenario{} : open_scenario(command.scenario, overrides);
  LayoutRequest request{0, 0, given_parallel_keys(named.source, overrides)};
  // Sequence parallelism is on unless the scenario states it. The setting also creates the table [parallel]
  // in a scenario that has none; degrees are varied by the search.
  overrides.settings.insert(overrides.settings.begin(), "parallel.sequence_parallel=true");
  overrides.origins[overrides.settings.front()] = {"foretrain plan", SettingOrigin::Kind::command, {}};
  if (std::ranges::find(request.fixed, "sequence_parallel") != request.fixed.end())
    overrides.settings.erase(overrides.settings.begin());
  const OpenedScenario opened = open_scenarios(names, overrides, RequestedScaling::of_scenario).front();
  const Scenario& scenario = opened.scenario;
  // A script has a time limit, so the length of the run must be known.
  if (asks_for_script(command.scripts)) refuse_unknown_length(scenario);
  request.global_batch = sequences_of(command.global_batch, layout_of(scenario).sequence);
  const PlannedCounts plan = planned(scenario, command, request);
  const std::vector<FileText> scripts = scripts_of(scenario, command, plan);
  const std::string report = find_row(kPlanReports, command.format)->write(plan, {command.top});
  if (!command.html.empty())
    write_file(command.html, write_page({"plan", {write_plan_json(plan, {})}, {}, command.made}));
  for (const auto& [file, text] : scripts) write_file(file, text);
  write_report(command.output, command.format, report);
}

}  // namespace foretrain
