// How sure, as text: intervals by number of GPUs, and which inputs they come from.
#pragma once

#include <string>

#include "sim/analysis/prediction.hpp"

namespace foretrain {

/// A heading and a line for each point: 90 % intervals of step, total and speedup, the chance that it is
/// faster than one GPU.
std::string write_intervals(const Prediction& prediction);

/// The tornado: a bar for each input, largest first, and what to measure.
std::string write_sensitivity(const Sensitivity& sensitivity);

}  // namespace foretrain
