// plan: arguments → opened scenario → request → search → report → output.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/analysis/search/layouts.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/named_scenario.hpp"
#include "sim/app/opened_scenarios.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/plan/plan_reports.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/sections/parallel_section.hpp"
#include "sim/scenario/sections/scenario_document.hpp"

namespace foretrain {

namespace {

constexpr double kMostTokens = 1e15;

/// 1024, or tokens: 4M-tokens, 500k-tokens, 1e6-tokens. Nothing for anything else.
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

/// In sequences; a number of tokens is rounded to a power of two of them, which has many divisors.
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

/// Keys of [parallel] that the scenario or the command line gives.
std::vector<std::string> given_keys(const SourceText& source, const ScenarioOverrides& overrides) {
  const ScenarioDocument document(source, overrides);
  std::vector<std::string> keys;
  for (const Key<LargeModelJob>& key : parallel_keys())
    if (document.has(fmt::format("parallel.{}", key.name))) keys.emplace_back(key.name);
  return keys;
}

}  // namespace

void run_plan(const PlanCommand& command) {
  check_outputs({{"-o", command.output}});
  std::vector<std::string> names;
  if (!command.scenario.empty()) names.push_back(command.scenario);
  ScenarioOverrides overrides = command.overrides;
  const NamedScenario named = names.empty() ? NamedScenario{} : open_scenario(command.scenario, overrides);
  LayoutRequest request{command.gpus, 0, given_keys(named.source, overrides)};
  // A table of its own, whatever the file has; degrees are varied below.
  overrides.settings.insert(overrides.settings.begin(), "parallel.sequence_parallel=true");
  if (std::ranges::find(request.fixed, "sequence_parallel") != request.fixed.end())
    overrides.settings.erase(overrides.settings.begin());
  const OpenedScenario opened = open_scenarios(names, overrides, AskedScaling::of_scenario).front();
  const Scenario& scenario = opened.scenario;
  if (command.gpus > gpus_of_job(scenario))
    throw InputError(fmt::format("cluster {} has only {} GPUs", scenario.cluster.name, gpus_of_job(scenario)),
                     "fewer with --gpus");
  request.global_batch = sequences_of(command.global_batch, scenario.parallel->sequence);
  ProgressLine progress("planning " + scenario.name);
  const LayoutSearch search =
      search_layouts(scenario, request, [&progress](double done) { progress.show(done); });
  write_report(command.output, command.format,
               find_row(kPlanReports, command.format)->write(search, {command.top}));
}

}  // namespace foretrain
