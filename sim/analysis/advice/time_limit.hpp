// Whether a job ends before its time limit does.
#pragma once

#include <cstdint>
#include <string>

#include "sim/analysis/prediction.hpp"

namespace foretrain {

/// Seconds of the whole run on the upper end of the step's interval; what is no training step is taken as
/// predicted.
double latest_end_s(const PredictionPoint& point);

/// Why a limit of `limit_s` seconds is too short for the run on `gpus` GPUs; empty when it is not, when the
/// run is not in the prediction, when the data set's size is unknown (an epoch is then one step), or without
/// a limit (0).
std::string time_limit_warning(std::int64_t limit_s, int gpus, const Prediction& prediction);

}  // namespace foretrain
