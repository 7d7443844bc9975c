// Each part from where the program has it already.
#include "sim/app/pages/prediction_page.hpp"

#include "sim/analysis/predict.hpp"
#include "sim/report/drawing/topology_drawing.hpp"
#include "sim/report/page/page.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Nothing of a job that cannot run.
Json timeline_of(const Scenario& scenario) {
  const RecordedSteps steps = record_steps(scenario);
  const Placement placement = reserved_gpus(scenario, scenario.gpus.back());
  Json out = step_timeline_json(steps.plan.graph, steps.timeline,
                                {scenario.workload.model->layer_names, steps.plan.step_ends},
                                Cluster::build(scenario.cluster, placement.nodes));
  out["gpus"] = scenario.gpus.back();
  out["nodes"] = placement.nodes;
  return out;
}

}  // namespace

Json prediction_details(const OpenedScenario& opened, const Prediction& prediction,
                        const std::string& job_script) {
  const Scenario& scenario = opened.scenario;
  Json out{{"scenario_name", opened.source.name},
           {"scenario", opened.source.text},
           {"samples", prediction.samples},
           {"epochs", prediction.epochs}};
  if (scenario.anchor)
    out["measured"] = {{{"gpus", scenario.anchor->gpus}, {"step_s", scenario.anchor->step_s}}};
  if (!prediction.cannot_run) out["timeline"] = timeline_of(scenario);
  out["topology_svg"] = draw_topology({scenario.cluster});
  if (!job_script.empty()) out["job_script"] = job_script;
  return out;
}

}  // namespace foretrain
