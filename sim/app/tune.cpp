// The command tune: searches the settings of a scenario for the best value of a goal. It builds a sweep from
// the requested axes, predicts its cases one after the other, and prints the best settings beside the
// scenario's own.
//
// `foretrain tune SCENARIO --over workers,bucket_cap` prints the answer and a line for each setting
// (report/sweep/tune_reports.cpp). That no case can run is an answer with exit code 0.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/answer/answer_of.hpp"
#include "sim/analysis/answer/tune_answer.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/named_scenario.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/held_output.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/sweep/tune_reports.hpp"
#include "sim/scenario/sweep/tuned_axes.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Returns the scenario's file with the settings of the command line.
SourceText scenario_text(const TuneCommand& command) {
  SourceText source = open_scenario(command.scenario, command.overrides).source;
  if (command.overrides.settings.empty()) return source;
  ScenarioOverrides overrides = command.overrides;
  overrides.gpus.clear();
  source.text = scenario_file_of(source, overrides);
  return source;
}

/// Returns the number of GPUs on which the search runs when it does not vary. Throws InputError for several
/// numbers.
int number_of(const TuneCommand& command, const Scenario& own) {
  if (command.overrides.gpus.size() > 1)
    throw InputError("--gpus says on which number the search is", "several with --axis 'gpus = [1, 2, 4]'");
  return command.overrides.gpus.empty() ? own.gpus.back() : command.overrides.gpus.front();
}

/// Returns the goal. Goals about a whole run need the size of the data set; without it the default is
/// samples_per_s.
TuneGoal goal_of(const TuneCommand& command, const Scenario& own) {
  const bool knows_epochs = own.workload.data.samples > 0;
  if (command.goal.empty()) return *find_row(kTuneGoals, knows_epochs ? "total_s" : "samples_per_s");
  const TuneGoal goal = *find_row(kTuneGoals, command.goal);
  if (!knows_epochs && goal.name != "step_s" && goal.name != "samples_per_s")
    throw InputError(fmt::format("--best {} needs the size of the data set", goal.name),
                     "--set data.samples=…, or --best samples_per_s");
  return goal;
}

/// Runs the search and fills in the answer.
TuneAnswer tuned(const TuneCommand& command) {
  const OpenedEvidence evidence = open_evidence(command.evidence, EvidenceOf::trainings);
  for (const std::string& warning : evidence.warnings) write_message(fmt::format("warning: {}\n", warning));
  const SweptScenario scenario = swept_scenario(scenario_text(command), {&evidence.field, kOwnSource});
  const int gpus = number_of(command, scenario.own);
  const SourceText file = tuned_sweep(command.over, command.axes, command.where, scenario.own);
  Sweep sweep = read_or_throw(file, read_sweep);
  add_gpus(sweep, {gpus});
  SweepCases cases(sweep, scenario.own.strategy, file);
  CasePredictor predictor(scenario);
  const TuneQuestion question{goal_of(command, scenario.own), command.searches, command.most, command.seed};
  TuneAnswer answer{scenario.own.name, {}, {}, gpus};
  answer.measured = scenario.measured;
  ProgressLine line("tuning " + scenario.own.name);
  answer.search = tune(predictor, cases, question, [&](std::int64_t predicted) {
    line.show(static_cast<double>(predicted) / static_cast<double>(question.most_predictions),
              counted(predicted, "case"));
  });
  // The scenario itself is predicted last, for comparison. Its figure counts only when it runs and fits into
  // memory.
  answer.own = predictor.predict({}, {gpus}).front();
  const Value figure = find_row(case_figures(), question.goal.name)->of(answer.own);
  if (const auto* number = std::get_if<double>(&figure.data);
      number != nullptr && answer.own.why_not.empty() && answer.own.point.fits())
    answer.own_figure = *number;
  answer.answer = answer_of(answer.search, answer.scenario, gpus, answer.own_figure, answer.own.why_not);
  answer.answer.assumptions = assumptions_of(scenario.own);
  answer.answer.not_understood = unmodelled_words(scenario.own, answer.own.point.nodes);
  say_what_is_unmodelled(answer.answer, scenario.own);
  return answer;
}

}  // namespace

void run_tune(const TuneCommand& command) {
  check_outputs({{"-o", command.output}});
  write_report(command.output, command.format, find_row(kTuneReports, command.format)->write(tuned(command)));
}

}  // namespace foretrain
