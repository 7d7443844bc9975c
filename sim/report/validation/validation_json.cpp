// Writes validations as JSON, with keys in the order of the schema. Errors are shares: 0.05 is 5 %.
//
// `rows` counts the rows of the file, `scored` those with an error; the others are calibration rows, rows
// that could not be calibrated, and `skipped` ones. `coverage` is the share of scored rows whose measurement
// lies within the interval.
//
// The page of `validate --html` draws this report. Keys are added, never renamed.
#include <fmt/format.h>

#include "sim/analysis/validation/strategy_choices.hpp"
#include "sim/analysis/validation/suspect_rows.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/prediction/json.hpp"

namespace foretrain {

Json statistics_json(const ErrorStatistics& s) {
  return {{"median", s.median}, {"p90", s.p90}, {"mean", s.mean}, {"bias", s.bias}};
}

namespace {

/// Returns the skipped rows with their reasons.
Json skipped_json(const std::vector<SkippedRow>& rows) {
  Json out = Json::array();
  for (const SkippedRow& row : rows) out.push_back({{"row", row.row}, {"why", row.why}});
  return out;
}

/// Returns series whose measurements contradict others.
Json suspects_json(const std::vector<SuspectSeries>& suspects) {
  Json out = Json::array();
  for (const SuspectSeries& suspect : suspects)
    out.push_back({{"series", suspect.series}, {"why", suspect.why}});
  return out;
}

/// Returns settings that were inferred for rows, and where they are stated.
Json inferred_settings_json(const std::vector<InferredSetting>& settings) {
  Json out = Json::array();
  for (const InferredSetting& setting : settings) {
    out.push_back({{"what", setting.what}, {"rows", setting.rows}});
    if (!setting.said_in.empty()) out.back()["said_in"] = setting.said_in;
  }
  return out;
}

/// Returns groups of rows whose calibration row could not be used.
Json unreached_json(const std::vector<UnreachedAnchor>& anchors) {
  Json out = Json::array();
  for (const UnreachedAnchor& anchor : anchors)
    out.push_back({{"series", anchor.series},
                   {"row", anchor.row},
                   {"gpus", anchor.gpus},
                   {"unscored_rows", anchor.unscored.size()},
                   {"why", anchor.why}});
  return out;
}

/// Returns errors by groups. "by" has the requested keys with the values that a group's rows share.
Json groups_json(const Validation& validation, const std::vector<GroupKeys>& groups) {
  Json out = Json::array();
  for (const GroupKeys& keys : groups) {
    for (const ErrorGroup& group : group_errors(validation, keys)) {
      Json by = Json::object();
      for (std::size_t i = 0; i < keys.size(); ++i) by[keys[i]] = group.values[i];
      out.push_back({{"by", std::move(by)},
                     {"rows", group.rows},
                     {"failed", group.failed},
                     {"error", statistics_json(group.error)},
                     {"coverage", group.coverage},
                     {"width", group.width}});
    }
  }
  return out;
}

/// Returns one size of a collective; times are in microseconds.
Json point_json(const ValidatedCollective& p) {
  return {{"bytes", p.bytes},
          {"measured", p.measured},
          {"predicted", p.predicted},
          {"error", p.error},
          {"low", p.low},
          {"high", p.high},
          // NCCL has a forecast only for operations that it has algorithms for.
          {"nccl_model", p.nccl_model > 0 ? Json(p.nccl_model) : Json(nullptr)},
          {"algorithm", p.algorithm},
          {"protocol", name_of(p.protocol)},
          {"channels", p.channels}};
}

/// Returns a series of collectives with its errors.
Json series_json(const ValidatedCollectiveSeries& s) {
  Json out{{"series", s.series}, {"cluster", s.cluster}, {"op", s.op},
           {"gpus", s.gpus},     {"nodes", s.nodes},     {"median", s.median},
           {"p90", s.p90},       {"worst", s.worst},     {"bias", s.bias}};
  Json points = Json::array();
  for (const ValidatedCollective& p : s.points) points.push_back(point_json(p));
  out["points"] = std::move(points);
  return out;
}

/// Returns how often the strategy that is predicted to be the fastest was the fastest.
Json choices_json(const StrategyChoices& c) {
  return {{"settings", c.settings}, {"first_right", c.first_right},  {"fastest_right", c.fastest_right},
          {"tied", c.tied},         {"tied_right", c.tied_right},    {"tied_near", c.tied_near},
          {"slower", c.slower},     {"slower_right", c.slower_right}};
}

}  // namespace

// "baseline" has the errors of perfect scaling, with which a prediction is compared.
std::string write_validation_json(const Validation& v, const std::vector<GroupKeys>& groups) {
  Json out{{"schema", "foretrain.validation/1"}, {"kind", v.kind}, {"rows", v.rows}, {"scored", v.scored}};
  out["skipped"] = skipped_json(v.skipped);
  if (v.anchored) out["unreached_anchors"] = unreached_json(v.unreached);
  if (!v.provenance.empty()) out["provenance"] = v.provenance;
  if (!v.inferred_settings.empty()) out["row_facts"] = inferred_settings_json(v.inferred_settings);
  out["error"] = statistics_json(v.error);
  out["coverage"] = v.coverage;
  out["baseline"] = Json::object();
  if (v.anchored) out["baseline"]["linear"] = statistics_json(v.linear);
  if (const StrategyChoices c = strategy_choices(v); c.settings > 0)
    out["strategy_choices"] = choices_json(c);
  if (!groups.empty()) out["groups"] = groups_json(v, groups);
  Json series = Json::array();
  for (const ValidatedSeries& s : v.series) {
    Json points = Json::array();
    for (const ValidatedPoint& p : s.points)
      points.push_back({{"gpus", p.gpus},
                        {"measured", p.measured},
                        {"predicted", p.predicted},
                        {"error", p.error},
                        {"low", p.low},
                        {"high", p.high}});
    series.push_back(
        {{"series", s.series}, {"median", s.median}, {"worst", s.worst}, {"points", std::move(points)}});
  }
  out["series"] = std::move(series);
  if (const auto suspects = suspect_series(v); !suspects.empty()) out["suspects"] = suspects_json(suspects);
  return json_text(out);
}

// Times are in microseconds. `large` has the errors of large messages alone, where bandwidth decides.
std::string write_validation_json(const CollectiveValidation& v) {
  Json out{
      {"schema", "foretrain.validation/1"}, {"kind", "collective"}, {"rows", v.rows}, {"scored", v.scored}};
  out["skipped"] = skipped_json(v.skipped);
  out["error"] = statistics_json(v.error);
  out["large"] = statistics_json(v.large);
  out["coverage"] = v.coverage;
  out["width"] = v.width;
  out["baseline"] = Json::object();
  if (v.nccl_rows > 0) out["baseline"]["nccl_model"] = statistics_json(v.nccl_model);
  Json series = Json::array();
  for (const ValidatedCollectiveSeries& s : v.series) series.push_back(series_json(s));
  out["series"] = std::move(series);
  if (const auto suspects = suspect_series(v); !suspects.empty()) out["suspects"] = suspects_json(suspects);
  return json_text(out);
}

}  // namespace foretrain
