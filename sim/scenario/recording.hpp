// Warnings of a prediction for a recorded network.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Share of the moved bytes by operators without a formula above which a prediction warns.
inline constexpr double kMuchWithoutFormula = 0.05;

/// Returns the share of the step's moved bytes by operators without a formula, at a batch; 0 when nothing is
/// moved.
double share_without_formula(const Recording& recording, double batch);

/// Returns warnings on facts that the recording lacks or has for its own batch alone. Empty for networks
/// written layer by layer.
std::vector<std::string> recording_warnings(const Scenario& scenario);

}  // namespace foretrain
