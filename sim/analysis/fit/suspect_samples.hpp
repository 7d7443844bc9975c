// Samples of a calibration that contradict each other.
#pragma once

#include <vector>

#include "sim/analysis/fit/calibration_fit.hpp"
#include "sim/analysis/validation/suspect_rows.hpp"

namespace foretrain {

/// Returns suspect series, each with its file: collectives whose times fall while their size grows, or that
/// two files measured differently; training steps that take far longer than the fitted kernels and this
/// machine's own collectives need.
std::vector<SuspectSeries> suspect_series(const CalibrationFit& fit);

}  // namespace foretrain
