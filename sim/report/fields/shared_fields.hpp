// The objects that several reports have.
#pragma once

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/known_figures.hpp"
#include "sim/report/fields/output_field.hpp"

namespace foretrain {

/// What a GPU holds, without its parts.
struct ShortMemory {
  const PredictionPoint& point;
};
/// Lowest and highest value, and the share of cases between them.
struct LevelRange {
  double low = 0, high = 0, level = 0.9;
};

/// Schema foretrain.predictions/1.
struct SeveralPredictions {
  const std::vector<Prediction>& predictions;
};

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

/// A getter of a figure that a point may lack.
template <class Figure>
auto known(Figure KnownFigures::*figure) {
  return [figure](const PredictionPoint& point) { return known_figures(point).*figure; };
}

/// Figures of a point that several reports have.
inline constexpr std::string_view kSpeedupMeaning =
    "rate / rate on one GPU; null: it does not fit into memory";

inline const OneOf kScalings{{"weak", "strong"}};
inline std::string_view scaling_name(bool is_strong) { return is_strong ? "strong" : "weak"; }

}  // namespace foretrain
