// What `calibrate check` prints: held-out error before and after the fit, platform by platform.
#pragma once

#include <string>

#include "sim/analysis/fit/calibration_check.hpp"

namespace foretrain {

std::string write_check_table(const CalibrationCheck& check);

/// {"schema":"foretrain.calibration_check/1", …}; errors as shares.
std::string write_check_json(const CalibrationCheck& check);

}  // namespace foretrain
