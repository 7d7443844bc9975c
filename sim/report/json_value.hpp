// JSON as the reports write it, with keys in the order in which they are added, and the parts that several
// reports share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/analysis/prediction.hpp"
#include "sim/base/decisions.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/scenario/toml/value.hpp"

namespace foretrain {

using Json = nlohmann::ordered_json;

/// Returns the value, or null when there is none: a promised key is always written.
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

struct ErrorStatistics;
struct TrainingSettings;

/// Returns JSON indented by two blanks, with a line end. Invalid UTF-8 is replaced.
std::string json_text(const Json& json);
/// Returns median, p90, mean and bias of errors, as shares.
Json statistics_json(const ErrorStatistics& statistics);
/// Returns the breakdown of one step in seconds, with the keys of the schema.
Json breakdown_json(const Breakdown& breakdown);
/// Returns low_s, high_s and level; null when the interval is unknown.
Json interval_json(const std::optional<Interval>& interval);
/// Returns the bytes that a GPU holds, whether they fit, and the largest batch that fits.
Json memory_json(const PredictionPoint& point);
/// Returns what measured runs did to a prediction.
Json evidence_json(const AppliedEvidence& evidence);
/// Returns an estimate of the Gaussian process, with its neighbours.
Json estimate_json(const Estimate& estimate);
/// Returns the model's decisions in order.
Json decisions_json(const Decisions& decisions);
/// Returns a file of another tool's training settings, key by key (prediction/settings_listing.cpp).
Json settings_json(const TrainingSettings& settings);
/// Returns a setting or a figure of a sweep: boolean, number, text or null (sweep/sweep_reports.cpp).
Json json_of_cell(const Value& value);
/// Returns mistakes or warnings about a job, each with its file and line; line 0: none.
Json findings_json(const std::vector<Diagnostic>& findings, std::string_view severity);

}  // namespace foretrain
