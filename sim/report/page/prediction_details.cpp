// Each part from where the program has it already.
#include <optional>
#include <string_view>
#include <utility>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/validation/nearest_rows.hpp"
#include "sim/report/drawing/topology_drawing.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/page/page.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Nothing of a job that cannot run.
Json timeline_of(const Scenario& scenario) {
  const RecordedSteps steps = std::move(record_steps(scenario, {}).front().steps);
  const Placement placement = reserved_gpus(scenario, scenario.gpus.back());
  Json out = Json::parse(step_timeline(steps, scenario.workload.model->layer_names));
  out["gpus"] = scenario.gpus.back();
  out["nodes"] = placement.nodes;
  return out;
}

std::string_view word_of(Measurement::Metric metric) {
  using M = Measurement::Metric;
  return metric == M::step_s ? "step_s" : metric == M::epoch_s ? "epoch_s" : "samples_per_s";
}

/// What others measured of the like, on the largest number of GPUs that is listed.
Json nearest_measured(const Scenario& scenario) {
  Json out = Json::array();
  const std::optional<SourceText> text = open_measured_trainings();
  if (!text) return out;
  const MeasurementFile file = read_or_throw(*text, read_measurements);
  for (const NearRow& near : nearest_rows(scenario, scenario.gpus.back(), file.scaling)) {
    const Measurement& row = near.row;
    out.push_back({{"model", row.model},
                   {"gpu", near.gpu},
                   {"cluster", row.cluster},
                   {"strategy", row.strategy},
                   {"precision", row.precision},
                   {"batch_per_gpu", row.batch_per_gpu},
                   {"gpus", row.gpus},
                   {"metric", word_of(row.metric)},
                   {"low", near.low},
                   {"high", near.high},
                   {"runs", near.runs},
                   {"source", row.source}});
  }
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
  if (!prediction.cannot_run && step_model_of(scenario).why_no_ranks.empty())
    out["timeline"] = timeline_of(scenario);
  out["topology_svg"] = draw_topology({scenario.cluster});
  if (Json nearest = nearest_measured(scenario); !nearest.empty()) out["nearest"] = std::move(nearest);
  if (!job_script.empty()) out["job_script"] = job_script;
  return json_text(out);
}

}  // namespace foretrain
