// The fit of a measured machine: predictions of its steps before the fit, the calibration, and predictions
// after it.
#pragma once

#include <optional>
#include <string>

#include "sim/analysis/fit/calibration_fit.hpp"
#include "sim/analysis/validation/measured_machine.hpp"
#include "sim/app/machine/measured_rows.hpp"

namespace foretrain {

/// The result of the fit stage.
struct MachineFit {
  /// Versions and names that Python reported.
  Settings about;
  MeasuredFiles files;
  MachineRows rows;
  /// Errors of predictions with the catalog's constants; none: not computed yet.
  std::optional<MachineScores> before;
  std::optional<CalibrationFit> fit;
  /// Sentence on why there is no calibration; empty when there is one.
  std::string why_not_fitted;
  /// Errors with constants from foretrain-bench's samples alone, in which no measured step took part.
  std::optional<MachineScores> after_bench;
  /// Errors with the constants of the calibration file, to which the same steps were fitted.
  std::optional<MachineScores> after;
};

/// Fills `out` step by step from the files of the working folder. It writes steps.csv, before.csv,
/// calibration.toml and after.csv as it goes. Throws what `progress` throws, and InputError when the cluster
/// file cannot be read.
void fit_machine(MachineFit& out, const Progress& progress);

}  // namespace foretrain
