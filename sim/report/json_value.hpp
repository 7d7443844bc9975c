// JSON as the reports write it: keys in the order they are added, and the parts several reports share.
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

/// A key that is promised stands there also when there is no answer.
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

struct ErrorStatistics;
struct TrainingSettings;

/// Indented by two blanks, with a line end; what is no UTF-8 is replaced.
std::string json_text(const Json& json);
/// median, p90, mean, bias.
Json statistics_json(const ErrorStatistics& statistics);
/// The account of one step in seconds, by the keys of the contract.
Json breakdown_json(const Breakdown& breakdown);
/// low_s, high_s, level; null where it is not known.
Json interval_json(const std::optional<Interval>& interval);
/// Bytes that a GPU holds, whether they fit, and the largest batch that does.
Json memory_json(const PredictionPoint& point);
/// What evidence did to a prediction.
Json evidence_json(const AppliedEvidence& evidence);
Json estimate_json(const Estimate& estimate);
Json decisions_json(const Decisions& decisions);
/// A file of another tool's training settings, key by key (prediction/settings_listing.cpp).
Json settings_json(const TrainingSettings& settings);
/// A setting, or a figure of a sweep: a flag, a number, text, null (sweep/sweep_reports.cpp).
Json json_of_cell(const Value& value);
/// What is wrong with a job, with the line it stands in.
Json findings_json(const std::vector<Diagnostic>& findings, std::string_view severity);

}  // namespace foretrain
