// model show: a network as the simulator sees it.
#include <fmt/format.h>

#include "sim/analysis/step/model_summary.hpp"
#include "sim/app/commands.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/model/model_catalog.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

/// The scenario wants a cluster; its GPU only counts when times are asked for.
constexpr const char* kAnyCluster = "star-1gpu";

Gpu open_gpu(const std::string& name) {
  const auto source = open_named(CatalogKind::gpus, name);
  if (!source)
    throw InputError(fmt::format("unknown GPU \"{}\"", shortened(name, 60)),
                     unknown_name_hint(CatalogKind::gpus, name));
  Diagnostics diagnostics(*source);
  const Gpu gpu = read_gpu(*source, diagnostics);
  diagnostics.throw_if_any();
  return gpu;
}

Scenario scenario_of(const ModelCommand& command) {
  ScenarioOverrides overrides;
  overrides.model = command.model;
  overrides.cluster = command.cluster.empty() ? kAnyCluster : command.cluster;
  overrides.batch = command.batch;
  overrides.gpus = {1};
  overrides.settings = command.settings;
  if (!command.precision.empty())
    overrides.settings.push_back("model.precision=\"" + command.precision + "\"");
  Scenario scenario = make_scenario(overrides);
  if (!command.gpu.empty()) scenario.cluster.node.gpu = open_gpu(command.gpu);
  return scenario;
}

LayerListing listing_of(const std::string& name) {
  if (name == "all") return LayerListing::all;
  return name == "none" ? LayerListing::none : LayerListing::folded;
}

}  // namespace

const std::vector<std::string>& layer_listings() {
  static const std::vector<std::string> names{"folded", "all", "none"};
  return names;
}

void run_model_show(const ModelCommand& command) {
  const ModelSummary summary =
      summarize_model(scenario_of(command), !command.cluster.empty() || !command.gpu.empty());
  write_output(command.output, find_model_report(command.format)->write(summary, listing_of(command.layers)));
}

}  // namespace foretrain
