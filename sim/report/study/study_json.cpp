// Values to JSON, key by key; a combination that cannot run has nothing but its settings and its reason.
#include "sim/analysis/step/known_figures.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/study/study_reports.hpp"

namespace foretrain {

namespace {

Json value_json(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return *integer;
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return nullptr;
}

Json axis_json(const StudyAxis& axis) {
  Json values = Json::array();
  for (const Value& value : axis.values) values.push_back(value_json(value));
  return {{"name", axis.name}, {"key", axis.key}, {"values", std::move(values)}};
}

void add_figures(Json& out, const PredictionPoint& p) {
  const KnownFigures known = known_figures(p);
  out["nodes"] = p.nodes;
  out["batch_per_gpu"] = p.batch_per_gpu;
  out["global_batch"] = p.global_batch;
  out["steps_per_epoch"] = or_null(known.steps_per_epoch);
  out["step_s"] = p.step_s;
  out["epoch_s"] = or_null(known.epoch_s);
  out["total_s"] = or_null(known.total_s);
  out["gpu_hours"] = or_null(known.gpu_hours);
  out["samples_per_s"] = p.samples_per_s;
  out["speedup"] = or_null(known.speedup);
  out["efficiency"] = or_null(known.efficiency);
  out["interval"] = interval_json(known.interval);
  out["memory"] = memory_json(p);
  out["breakdown"] = breakdown_json(p.breakdown);
}

Json row_json(const StudyResult& study, const StudyRow& row) {
  Json settings = Json::object();
  for (std::size_t i = 0; i < study.axes.size(); ++i)
    settings[study.axes[i].name] = value_json(row.values[i]);
  Json out{{"settings", std::move(settings)}, {"gpus", row.gpus}, {"runs", row.why_not.empty()}};
  if (row.why_not.empty())
    add_figures(out, row.point);
  else
    out["why_not"] = row.why_not;
  return out;
}

/// Names come from files and may hold any bytes: invalid UTF-8 is replaced.
}  // namespace

std::string write_study_json(const StudyResult& study, const ReportOptions&) {
  Json out{{"schema", "foretrain.study/1"}, {"scenario", study.scenario}, {"model", study.model},
           {"cluster", study.cluster},      {"strategy", study.strategy}, {"precision", study.precision}};
  Json axes = Json::array(), rows = Json::array();
  for (const StudyAxis& axis : study.axes) axes.push_back(axis_json(axis));
  for (const StudyRow& row : study.rows) rows.push_back(row_json(study, row));
  out["axes"] = std::move(axes);
  out["combinations"] = std::move(rows);
  out["fastest"] = or_null(study.fastest);
  out["cheapest"] = or_null(study.cheapest);
  out["decisions"] = decisions_json(study.decisions);
  out["warnings"] = study.warnings;
  return json_text(out);
}

}  // namespace foretrain
