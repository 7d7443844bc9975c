// Collects what the page of a prediction shows besides the report: scenario, timeline, topology, similar
// measured runs.
#include <optional>
#include <string_view>
#include <utility>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/validation/nearest_rows.hpp"
#include "sim/report/drawing/topology_drawing.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/page/page.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Returns the timeline of the largest number of GPUs. Precondition: the job can run.
Json timeline_of(const Scenario& scenario) {
  const RecordedSteps steps = std::move(record_steps(scenario, {}).front().steps);
  const Placement placement = reserved_gpus(scenario, scenario.gpus.back());
  Json out = Json::parse(step_timeline(steps, scenario.workload.model->layer_names));
  out["gpus"] = scenario.gpus.back();
  out["nodes"] = placement.nodes;
  return out;
}

/// Returns the measured runs of others that are most similar to the scenario, with their distance. `size` of
/// an observation is its batch per GPU; `efficiency` is the rate per GPU over that of the series' smallest
/// job.
Json nearest_measured(const Scenario& scenario, const EvidenceTable& measured) {
  Json out = Json::array();
  for (const NearRow& near : nearest_rows(scenario, measured)) {
    const Observation& row = near.row;
    Json& one = out.emplace_back(Json{{"model", row.model},
                                      {"gpu", row.gpu},
                                      {"cluster", row.cluster},
                                      {"strategy", row.strategy},
                                      {"precision", row.precision},
                                      {"batch_per_gpu", row.size},
                                      {"gpus", row.gpus},
                                      {"nodes", row.nodes},
                                      {"distance", near.distance},
                                      {"runs", near.repeats},
                                      {"run", row.run},
                                      {"source", row.source}});
    if (near.high > 0) one["step_low_s"] = near.low, one["step_high_s"] = near.high;
    if (near.efficiency > 0) one["efficiency"] = near.efficiency;
  }
  return out;
}

}  // namespace

// The timeline needs a simulation of its own; everything else exists already.
std::string prediction_details(const Scenario& scenario, const SourceText& source,
                               const Prediction& prediction, const EvidenceTable& measured,
                               const std::string& job_script) {
  Json out{{"scenario_name", source.name},
           {"scenario", source.text},
           {"samples", prediction.samples},
           {"epochs", prediction.epochs}};
  if (scenario.anchor)
    out["measured"] = {{{"gpus", scenario.anchor->gpus}, {"step_s", scenario.anchor->step_s}}};
  // A job that cannot run, or that has no ranks to trace, has no timeline.
  if (!prediction.cannot_run && step_model_of(scenario).why_no_ranks.empty())
    out["timeline"] = timeline_of(scenario);
  out["topology_svg"] = draw_topology({scenario.cluster});
  if (Json nearest = nearest_measured(scenario, measured); !nearest.empty())
    out["nearest"] = std::move(nearest);
  if (!job_script.empty()) out["job_script"] = job_script;
  return json_text(out);
}

}  // namespace foretrain
