// What a run's files come to: predictions of all steps before anything is fitted, a calibration, predictions
// after.
#pragma once

#include <optional>
#include <string>

#include "sim/analysis/fit/calibration_fit.hpp"
#include "sim/analysis/validation/measured_machine.hpp"
#include "sim/app/machine/measured_rows.hpp"

namespace foretrain {

/// The result of fitting a measured machine: its calibration, and errors of predictions before and after the
/// fit.
struct MachineFit {
  Settings about;
  MeasuredFiles files;
  MachineRows rows;
  std::optional<MachineScores> before;
  std::optional<CalibrationFit> fit;
  std::string why_not_fitted;
  /// With constants from foretrain-bench's samples alone, so that no step had a part in them.
  std::optional<MachineScores> after_bench;
  /// With those of the calibration file, which the same steps had a part in.
  std::optional<MachineScores> after;
};

/// Fills `out` step by step from the files of the working folder, and writes steps.csv, before.csv,
/// calibration.toml and after.csv as it goes. Throws what `progress` throws, and InputError where the cluster
/// file cannot be read.
void fit_machine(MachineFit& out, const Progress& progress);

}  // namespace foretrain
