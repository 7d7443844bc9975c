// The command trace diff: compares a recorded step with its prediction, account by account. When no network
// is named, the trace itself becomes the network, with the speed of the host that recorded it.
//
// `foretrain trace diff FILE --scenario NAME` prints the table of report/traces/trace_diff.cpp. A scenario of
// which nothing can be predicted ends it with exit code 1.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "sim/analysis/predict.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/named_scenario.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/import/traces/traced_network.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/traces/trace_diff_reports.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

// Facts about the training that the trace states.
struct RecordedTraining {
  TraceSummary summary;
  // Network made from the trace; without text when the user named one.
  ImportedModel network;
  std::string name;
  // Slowdown of the recording host relative to the reference CPU; 0: unknown.
  double slowdown = 0;
};

/// Reads the trace, and makes a network of it when the user names none.
RecordedTraining read_training(const TraceCommand& command) {
  RecordedTraining out;
  const bool has_network = !command.scenario.empty() || !command.overrides.model.empty();
  each_timed_trace(command.files, [&](const Trace& trace) {
    out.summary = summarize_trace(trace);
    if (has_network) return;
    ModelImportOptions options;
    options.batch = command.overrides.batch;
    out.network = profiled_network(trace, options, out.slowdown);
    out.name = "traced";
  });
  return out;
}

/// Returns the number of GPUs that trained: the job's, or the largest group of its collectives.
int recorded_gpus(const TraceSummary& summary) {
  int ranks = summary.ranks;
  for (const TraceCollectiveRow& row : summary.collectives) ranks = std::max(ranks, row.ranks);
  return std::max(ranks, 1);
}

/// Builds the scenario to predict. Options win over what the trace states, such as its batch and number of
/// ranks.
Scenario recorded_scenario(const TraceCommand& command, const RecordedTraining& training) {
  ScenarioOverrides overrides = command.overrides;
  if (overrides.gpus.empty()) {
    overrides.gpus = {recorded_gpus(training.summary)};
    overrides.origins["--gpus"] = {training.name + ": its number of ranks", SettingOrigin::Kind::command, {}};
  }
  // The traced network exists only in memory; it is given to the reader as if it were in the catalog.
  OpenedCatalogs opened;
  if (!training.network.text.empty()) {
    const SourceText source{training.name, training.network.text};
    ModelFile file = read_or_throw(source, read_model_file);
    file.model.name = training.name;
    if (!overrides.batch) {
      overrides.batch = file.expanded.recording->batch;
      overrides.origins["--batch"] = {
          training.name + ": its recorded batch", SettingOrigin::Kind::command, {}};
    }
    opened.models[training.name] = {std::move(file.model),
                                    std::make_shared<const ExpandedModel>(std::move(file.expanded))};
    overrides.model = training.name;
  }
  Scenario scenario =
      command.scenario.empty()
          ? make_scenario(overrides, opened)
          : read_scenario(open_scenario(command.scenario, overrides).source, overrides, opened);
  if (training.slowdown > 0) scenario.cluster.node.host.slowdown = training.slowdown;
  return scenario;
}

}  // namespace

void run_trace_diff(const TraceCommand& command) {
  const RecordedTraining training = read_training(command);
  const Scenario scenario = recorded_scenario(command, training);
  ProgressLine progress("predicting " + scenario.name);
  const Prediction prediction = predict(scenario, [&progress](double done) { progress.show(done); });
  if (prediction.points.empty()) throw InputError("nothing is predicted for so many GPUs");
  TraceDifference difference = compare_trace(training.summary, prediction, prediction.points.front());
  difference.recording_slowdown = training.slowdown;
  for (const std::string& remark : training.network.remarks) difference.notes.push_back(remark);
  write_report(command.output, command.format,
               find_row(kTraceDiffFormats, command.format)->write(difference));
}

}  // namespace foretrain
