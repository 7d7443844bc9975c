// The cost of unlike nodes in one job, and whether the job is faster without the slow ones.
#pragma once

#include <optional>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain {

/// Smallest difference in speed between two choices that is reported as a difference.
inline constexpr double kMixingMatters = 0.01;

/// Returns the choices for a point of `points`; nothing where its ranks are alike. Kinds of node are excluded
/// from the slowest on, then nodes that have a slow GPU. Each choice is simulated.
std::optional<Mixing> what_mixing_costs(const PointPredictor& points, const PredictionPoint& point);

/// Returns the name of a kind of rank: "v100", or "a100 at 70 % of its clock".
std::string name_of(const UnlikeShare& ranks);

}  // namespace foretrain
