// Steps and memory of large models as JSON, row by row.
#include <nlohmann/json.hpp>

#include "sim/report/validation/validation_catalog.hpp"

namespace foretrain {

namespace {

using Json = nlohmann::ordered_json;

Json statistics(const ErrorStatistics& s) {
  return {{"median", s.median}, {"p90", s.p90}, {"mean", s.mean}, {"bias", s.bias}};
}

Json point_of(const ValidatedLargeModel& p) {
  const Degrees& d = p.degrees;
  Json out{{"row", p.row->line},
           {"model", p.row->model},
           {"source", p.source},
           {"class", p.tag},
           {"cluster", p.cluster},
           {"gpus", p.row->gpus},
           {"degrees",
            {{"tensor", d.tensor},
             {"pipeline", d.pipeline},
             {"virtual_stages", d.virtual_stages},
             {"context", d.context},
             {"expert", d.expert},
             {"data", d.data}}},
           {"predicted_s", p.predicted_s},
           {"compute_s", p.compute_s},
           {"exchange_s", p.exchange_s},
           {"host_s", p.host_s},
           {"bubble_s", p.bubble_s},
           {"memory_gib", p.predicted_gb},
           {"peak_bytes", p.peak_bytes},
           {"fits", p.peak_bytes <= p.capacity_bytes},
           {"is_anchor", p.is_anchor}};
  if (p.row->step_s > 0) out["measured_s"] = p.row->step_s, out["error"] = p.error();
  if (p.row->memory_gb > 0) out["measured_gib"] = p.row->memory_gb;
  return out;
}

}  // namespace

std::string write_large_model_json(const LargeModelValidation& v, const std::vector<GroupKeys>& groups) {
  Json out{{"schema", "foretrain.validation/1"}, {"kind", "large_models"}, {"rows", v.rows}};
  out["scored"] = v.points.size();
  out["skipped"] = Json::array();
  for (const SkippedRow& row : v.skipped) out["skipped"].push_back({{"row", row.row}, {"why", row.why}});
  std::vector<double> errors;
  for (const ValidatedLargeModel& p : v.points)
    if (p.row->step_s > 0 && !p.is_anchor) errors.push_back(p.error());
  out["error"] = statistics(statistics_of(errors));
  const MemoryScore memory = memory_score(v);
  out["memory"] = statistics(memory.error);
  out["memory"]["rows"] = memory.rows;
  for (const GroupKeys& keys : groups) {
    for (const ErrorGroup& group :
         group_large_models(v, keys, [](const ValidatedLargeModel& p) { return p.predicted_s; }))
      out["groups"].push_back(
          {{"by", keys}, {"values", group.values}, {"rows", group.rows}, {"error", statistics(group.error)}});
  }
  out["points"] = Json::array();
  for (const ValidatedLargeModel& p : v.points) out["points"].push_back(point_of(p));
  return out.dump(2) + "\n";
}

}  // namespace foretrain
