// Declared objects that several reports share.
#pragma once

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/known_figures.hpp"
#include "sim/report/fields/output_field.hpp"

namespace foretrain {

/// The memory of a GPU as a total, without its parts.
struct ShortMemory {
  const PredictionPoint& point;
};
/// A range of a number, and the share of cases that lie inside.
struct LevelRange {
  double low = 0, high = 0, level = 0.9;
};

/// Several predictions as one report: schema foretrain.predictions/1.
struct SeveralPredictions {
  const std::vector<Prediction>& predictions;
};

// The declarations stand in the files of the reports that they belong to.
template <>
const OutputObject<SeveralPredictions>& output_object<SeveralPredictions>();
template <>
const OutputObject<Interval>& output_object<Interval>();
template <>
const OutputObject<LevelRange>& output_object<LevelRange>();
template <>
const OutputObject<ShortMemory>& output_object<ShortMemory>();
template <>
const OutputObject<Breakdown>& output_object<Breakdown>();
template <>
const OutputObject<Decision>& output_object<Decision>();
template <>
const OutputObject<Answer>& output_object<Answer>();
template <>
const OutputObject<AppliedEvidence>& output_object<AppliedEvidence>();
template <>
const OutputObject<Estimate>& output_object<Estimate>();
template <>
const OutputObject<RunsToMake>& output_object<RunsToMake>();
template <>
const OutputObject<Recommendation>& output_object<Recommendation>();
template <>
const OutputObject<UnlikeShare>& output_object<UnlikeShare>();
template <>
const OutputObject<Mixing>& output_object<Mixing>();
template <>
const OutputObject<Prediction>& output_object<Prediction>();

/// Returns the getter of a figure that a point may lack.
template <class Figure>
auto known(Figure KnownFigures::*figure) {
  return [figure](const PredictionPoint& point) { return known_figures(point).*figure; };
}

/// Meaning of fields that several reports have.
inline constexpr std::string_view kSpeedupMeaning =
    "rate / rate on one GPU; null: it does not fit into memory";

/// Names of the two kinds of scaling.
inline const OneOf kScalings{{"weak", "strong"}};
inline std::string_view scaling_name(bool is_strong) { return is_strong ? "strong" : "weak"; }

}  // namespace foretrain
