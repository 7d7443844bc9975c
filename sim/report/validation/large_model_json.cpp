// Writes the validation of large models as JSON, with the keys of every validation. A series is a network of
// one source.
//
// Errors are shares: 0.05 is 5 %. A row with a measured step is scored unless it is the one that the model
// was scaled to; other rows only have a memory or a verdict on whether they fit.
#include <algorithm>
#include <cmath>
#include <map>

#include "sim/report/json_value.hpp"
#include "sim/report/validation/validation_catalog.hpp"

namespace foretrain {

namespace {

/// Returns the errors of scored rows with one way of predicting them.
ErrorStatistics errors_of(const std::vector<const ValidatedLargeModel*>& points,
                          double ValidatedLargeModel::*predicted) {
  std::vector<double> errors;
  for (const ValidatedLargeModel* p : points)
    if (p->row->step_s > 0 && !p->is_anchor) errors.push_back(p->*predicted / p->row->step_s - 1);
  return statistics_of(std::move(errors));
}

/// Returns the share of scored rows whose measured step lies in the 90 % interval.
double coverage_of(const std::vector<const ValidatedLargeModel*>& points) {
  int scored = 0, held = 0;
  for (const ValidatedLargeModel* p : points) {
    const double step_s = p->row->step_s;
    if (!(step_s > 0) || p->is_anchor) continue;
    ++scored, held += p->low_s <= step_s && step_s <= p->high_s ? 1 : 0;
  }
  return scored > 0 ? held / static_cast<double>(scored) : 0;
}

/// Returns the degrees of parallelism of a row.
Json degrees_json(const Degrees& d) {
  return {{"tensor", d.tensor},   {"pipeline", d.pipeline}, {"virtual_stages", d.virtual_stages},
          {"context", d.context}, {"expert", d.expert},     {"data", d.data}};
}

/// Returns one row. Times are in seconds; memory is in GiB on the first rank, as in the measured rows.
Json point_json(const ValidatedLargeModel& p) {
  Json out{{"row", p.row->line},
           {"gpus", p.row->gpus},
           {"class", p.tag},
           {"layout", to_string(p.degrees)},
           {"degrees", degrees_json(p.degrees)},
           {"measured", p.row->step_s},
           {"predicted", p.predicted_s},
           {"error", std::abs(p.error())},
           {"low", p.low_s},
           {"high", p.high_s},
           {"is_anchor", p.is_anchor}};
  // Parts of the predicted step.
  out["parts"] = {{"compute_s", p.compute_s},
                  {"exchange_s", p.exchange_s},
                  {"host_s", p.host_s},
                  {"bubble_s", p.bubble_s}};
  out["memory_gib"] = p.predicted_gb;
  out["peak_bytes"] = p.peak_bytes, out["fits"] = p.peak_bytes <= p.capacity_bytes;
  if (p.row->memory_gb > 0) out["measured_memory_gib"] = p.row->memory_gb;
  return out;
}

/// Returns a series with its errors; the calibration row is not scored.
Json series_json(const std::string& name, const std::vector<const ValidatedLargeModel*>& points) {
  const ErrorStatistics s = errors_of(points, &ValidatedLargeModel::predicted_s);
  double worst = 0;
  Json rows = Json::array();
  for (const ValidatedLargeModel* p : points) {
    // Rows without a measured step have no point in the series; they count for the memory alone.
    if (p->row->step_s <= 0) continue;
    if (!p->is_anchor) worst = std::max(worst, std::abs(p->error()));
    rows.push_back(point_json(*p));
  }
  return {{"series", name},
          {"cluster", points.front()->cluster},
          {"gpu", points.front()->row->gpu},
          {"median", s.median},
          {"p90", s.p90},
          {"worst", worst},
          {"bias", s.bias},
          {"points", std::move(rows)}};
}

/// Returns the scores of memory: errors, and verdicts on rows that ran and on rows that did not fit.
Json memory_json(const LargeModelValidation& v) {
  const MemoryScore score = memory_score(v);
  return {{"rows", score.rows},   {"error", statistics_json(score.error)},
          {"fits", score.fits},   {"fits_right", score.fits_right},
          {"fails", score.fails}, {"fails_right", score.fails_right},
          {"ran", score.ran},     {"ran_refused", score.ran_refused}};
}

/// Returns errors by groups of rows, one list entry for each group of each --by.
Json groups_json(const LargeModelValidation& v, const std::vector<GroupKeys>& tables) {
  Json out = Json::array();
  for (const GroupKeys& keys : tables) {
    for (const ErrorGroup& group :
         group_large_models(v, keys, [](const ValidatedLargeModel& p) { return p.predicted_s; })) {
      Json by = Json::object();
      for (std::size_t i = 0; i < keys.size(); ++i) by[keys[i]] = group.values[i];
      out.push_back({{"by", std::move(by)}, {"rows", group.rows}, {"error", statistics_json(group.error)}});
    }
  }
  return out;
}

}  // namespace

std::string write_large_model_json(const LargeModelValidation& v, const std::vector<GroupKeys>& groups) {
  std::vector<const ValidatedLargeModel*> all;
  std::map<std::string, std::vector<const ValidatedLargeModel*>> series;
  for (const ValidatedLargeModel& p : v.points) {
    all.push_back(&p);
    series[p.row->model + ", " + p.source + ", " + p.row->gpu].push_back(&p);
  }
  Json out{{"schema", "foretrain.validation/1"},
           {"kind", "large_models"},
           {"rows", v.rows},
           {"scored", std::ranges::count_if(all, [](const ValidatedLargeModel* p) {
              return p->row->step_s > 0 && !p->is_anchor;
            })}};
  out["skipped"] = Json::array();
  for (const SkippedRow& row : v.skipped) out["skipped"].push_back({{"row", row.row}, {"why", row.why}});
  out["error"] = statistics_json(errors_of(all, &ValidatedLargeModel::predicted_s));
  out["coverage"] = coverage_of(all);
  // The baselines are what a simple estimate would give.
  out["baseline"] = {{"constant_mfu", statistics_json(errors_of(all, &ValidatedLargeModel::mfu_s))},
                     {"roofline", statistics_json(errors_of(all, &ValidatedLargeModel::roofline_s))}};
  out["memory"] = memory_json(v);
  if (!groups.empty()) out["groups"] = groups_json(v, groups);
  out["series"] = Json::array();
  for (const auto& [name, points] : series) out["series"].push_back(series_json(name, points));
  return json_text(out);
}

}  // namespace foretrain
