// predict: scenario → prediction → report, one line per arrow.
#include "sim/analysis/predict.hpp"

#include "sim/app/commands.hpp"
#include "sim/app/named_scenario.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/report/both_scalings.hpp"
#include "sim/report/catalog.hpp"
#include "sim/report/chrome_trace.hpp"
#include "sim/report/html.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/variation.hpp"

namespace foretrain {

namespace {

Scenario scenario_of(const PredictCommand& command) {
  Scenario scenario =
      command.scenario.empty() ? make_scenario(command.overrides) : read_scenario(open_scenario(command.scenario), command.overrides);
  if (command.scaling == "weak") return with_scaling(std::move(scenario), Scaling::weak);
  if (command.scaling == "strong") return with_scaling(std::move(scenario), Scaling::strong);
  return scenario;
}

Prediction predict_with_progress(const Scenario& scenario, const PredictCommand& command) {
  ProgressLine progress("predicting " + scenario.name);
  const Prediction prediction = predict(scenario, [&progress](double done) { progress.show(done); }, {.break_even = command.break_even});
  progress.clear();
  return prediction;
}

std::string report(const Scenario& scenario, const Prediction& own, const PredictCommand& command) {
  const ReportOptions options{.explain = command.explain};
  if (command.scaling != "both") return find_report(command.format)->write(own, options);
  const Scaling other = own.strong_scaling ? Scaling::weak : Scaling::strong;
  const Prediction second = predict_with_progress(with_scaling(scenario, other), command);
  return write_both_scalings(own.strong_scaling ? second : own, own.strong_scaling ? own : second, command.format, options);
}

}  // namespace

void run_predict(const PredictCommand& command) {
  const Scenario scenario = scenario_of(command);
  const Prediction prediction = predict_with_progress(scenario, command);
  const std::string text = report(scenario, prediction, command);
  if (!command.html.empty()) write_file(command.html, write_html(prediction, {.explain = command.explain}));
  if (!command.trace.empty()) {
    const RecordedSteps recorded = record_steps(scenario);
    write_file(command.trace, write_chrome_trace(recorded.plan.graph, recorded.timeline));
  }
  write_output(command.output, text);
}

}  // namespace foretrain
