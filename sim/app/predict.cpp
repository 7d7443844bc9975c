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

void run_predict(const PredictCommand& command) {
  const Scenario scenario =
      command.scenario.empty() ? make_scenario(command.overrides) : read_scenario(open_scenario(command.scenario), command.overrides);
  ProgressLine progress("predicting " + scenario.name);
  const Prediction prediction = predict(scenario, {.sensitivity = command.sensitivity}, [&progress](double done) { progress.show(done); });
  progress.clear();
  if (!command.html.empty()) write_file(command.html, write_html(prediction, {.explain = command.explain}));
  if (!command.trace.empty()) {
    const RecordedSteps recorded = record_steps(scenario);
    write_file(command.trace, write_chrome_trace(recorded.plan.graph, recorded.timeline));
  }
  write_output(command.output, find_report(command.format)->write(prediction, {.explain = command.explain}));
}

}  // namespace foretrain
