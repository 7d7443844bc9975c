// What people should know of a prediction for a recorded network.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Shares of the moved bytes by operators without a formula above which a prediction says so.
inline constexpr double kMuchWithoutFormula = 0.05;

/// Share of the step's moved bytes by operators without a formula, at a batch; 0 when nothing is moved.
double share_without_formula(const Recording& recording, double batch);

/// Of what the recording does not tell or tells for its own batch alone. Empty for networks written layer by
/// layer.
std::vector<std::string> recording_warnings(const Scenario& scenario);

}  // namespace foretrain
