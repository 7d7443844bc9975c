// A calibration as a drawing: measured points and fitted pieces of each collective, and how far the samples
// of constants are from the fit.
#pragma once

#include <string>

#include "sim/analysis/fit/calibration_fit.hpp"

namespace foretrain {

/// An SVG of its own, two panels in a row: for each of the first hundred collectives time over size, both
/// logarithmic, points measured, pieces as lines in their 90 % bands; at the end bars of the root mean square
/// of log(fitted / measured) for each kind of sample of the constants, the worst marked. Readable on light
/// and dark ground.
std::string draw_calibration(const CalibrationFit& fit);

}  // namespace foretrain
