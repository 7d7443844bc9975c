// Each part from where the program has it already.
#include <utility>

#include "sim/analysis/predict.hpp"
#include "sim/report/drawing/topology_drawing.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/page/page.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Nothing of a job that cannot run.
Json timeline_of(const Scenario& scenario) {
  const RecordedSteps steps = std::move(record_steps(scenario, {}).front().steps);
  const Placement placement = reserved_gpus(scenario, scenario.gpus.back());
  Json out = Json::parse(step_timeline(steps, scenario.workload.model->layer_names,
                                       Cluster::build(scenario.cluster, placement.nodes)));
  out["gpus"] = scenario.gpus.back();
  out["nodes"] = placement.nodes;
  return out;
}

}  // namespace

std::string prediction_details(const Scenario& scenario, const SourceText& source,
                               const Prediction& prediction, const std::string& job_script) {
  Json out{{"scenario_name", source.name},
           {"scenario", source.text},
           {"samples", prediction.samples},
           {"epochs", prediction.epochs}};
  if (scenario.anchor)
    out["measured"] = {{{"gpus", scenario.anchor->gpus}, {"step_s", scenario.anchor->step_s}}};
  if (!prediction.cannot_run) out["timeline"] = timeline_of(scenario);
  out["topology_svg"] = draw_topology({scenario.cluster});
  if (!job_script.empty()) out["job_script"] = job_script;
  return json_text(out);
}

}  // namespace foretrain
