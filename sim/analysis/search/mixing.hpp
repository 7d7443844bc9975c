// What it costs that the nodes of a job are not alike, and whether it is faster without the slow ones.
#pragma once

#include <optional>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain {

/// How much faster one way to run a job must be than another to be called so.
inline constexpr double kMixingMatters = 0.01;

/// Of a point of `points`; nothing where its ranks are alike. Kinds of node are left out from the slowest on,
/// and nodes that have a slow GPU.
std::optional<Mixing> what_mixing_costs(const PointPredictor& points, const PredictionPoint& point);

/// "v100", or "a100 at 70 % of its clock".
std::string name_of(const UnlikeShare& ranks);

}  // namespace foretrain
