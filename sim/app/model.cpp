// The command model show: prints a network as the simulator sees it, with layers, memory and time on a GPU.
//
// `foretrain model show resnet50 --gpu a100-sxm4-80gb` prints the table of report/model/model_table.cpp. An
// unknown network or a wrong model file ends it with exit code 1.
#include "sim/analysis/step/model_summary.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/options/named_files.hpp"
#include "sim/report/model/model_catalog.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

// A scenario needs a cluster. This one is used when no times are asked for, so that its GPU does not matter.
constexpr const char* kAnyCluster = "star-1gpu";

/// Builds a scenario of one GPU from the command's options.
Scenario scenario_of(const ModelCommand& command) {
  ScenarioOverrides overrides;
  take_model(command.model, overrides);
  overrides.cluster = command.cluster.empty() ? kAnyCluster : command.cluster;
  overrides.batch = command.batch;
  overrides.gpus = {1};
  // Error messages name this command instead of an option that the user did not give.
  overrides.origins["--gpus"] = {"foretrain model show", SettingOrigin::Kind::command, {}};
  overrides.settings = command.settings;
  if (!command.precision.empty()) {
    overrides.settings.push_back("model.precision=\"" + command.precision + "\"");
    overrides.origins[overrides.settings.back()] = {"--precision " + command.precision};
  }
  Scenario scenario = make_scenario(overrides);
  if (!command.gpu.empty()) scenario.cluster.node.gpu = open_value(CatalogKind::gpus, command.gpu, read_gpu);
  return scenario;
}

}  // namespace

// Times are only shown when a GPU or a cluster was named.
void run_model_show(const ModelCommand& command) {
  const ModelSummary summary =
      summarize_model(scenario_of(command), !command.cluster.empty() || !command.gpu.empty());
  write_output(command.output, find_model_report(command.format)->write(summary, command.layers));
}

}  // namespace foretrain
