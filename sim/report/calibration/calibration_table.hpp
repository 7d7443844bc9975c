// What `calibrate fit` and `calibrate show` print: constants beside the defaults they replace, collectives,
// the worst residuals.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/fit/calibration_fit.hpp"

namespace foretrain {

struct CalibrationTableOptions {
  std::vector<ConstantRange> known;  ///< tells the dimension of each constant
  std::size_t worst = 10;            ///< residuals that are listed
};

/// Sections without content are left out; the percentages of spreads are those of 90 % intervals.
std::string write_calibration_table(const CalibrationFit& fit, const CalibrationTableOptions& options);

}  // namespace foretrain
