// predict: scenario → prediction → report, one line per arrow.
#include "sim/analysis/predict.hpp"

#include "sim/app/commands.hpp"
#include "sim/app/named_scenario.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/report/catalog.hpp"
#include "sim/report/chrome_trace.hpp"
#include "sim/report/html.hpp"
#include "sim/report/output_file.hpp"

namespace foretrain {

namespace {

/// A scenario file, or a job script as one.
Scenario read_named(const PredictCommand& command, std::optional<OpenedJob>& job) {
  NamedScenario named = open_scenario(command.scenario, command.overrides);
  Scenario scenario = read_scenario(named.source, command.overrides);
  job = std::move(named.job);
  if (job) apply_job(*job, scenario);
  return scenario;
}

}  // namespace

void run_predict(const PredictCommand& command) {
  std::optional<OpenedJob> job;
  const Scenario scenario = command.scenario.empty() ? make_scenario(command.overrides) : read_named(command, job);
  ProgressLine progress("predicting " + scenario.name);
  Prediction prediction = predict(scenario, [&progress](double done) { progress.show(done); });
  if (job) check_time_limit(*job, prediction);
  progress.clear();
  if (!command.html.empty()) write_file(command.html, write_html(prediction, {.explain = command.explain}));
  if (!command.trace.empty()) {
    const RecordedSteps recorded = record_steps(scenario);
    write_file(command.trace, write_chrome_trace(recorded.plan.graph, recorded.timeline));
  }
  write_output(command.output, find_report(command.format)->write(prediction, {.explain = command.explain}));
}

}  // namespace foretrain
