// The report of `calibrate machine`: what was measured, what was predicted before and after the fit, and what
// is most wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/fit/calibration_fit.hpp"
#include "sim/analysis/validation/measured_machine.hpp"
#include "sim/import/logs/measured_steps.hpp"
#include "sim/report/calibration/document.hpp"

namespace foretrain {

/// What became of a stage.
struct ReportedStage {
  std::string name, state, said;
  double seconds = 0;
};

/// The report on a measured machine.
struct MachineReport {
  Settings about;  ///< of the machine: gpu, driver, torch, …
  std::vector<ReportedStage> stages;
  std::vector<MachineStep> steps;
  std::vector<std::string> left_out;  ///< sentences on configurations without a row
  std::optional<MachineScores> before, after_bench, after;
  std::optional<CalibrationFit> fit;
  std::vector<MeasuredLoader> loaders;
  std::vector<std::string> shared;      ///< files that name no person, host or folder
  std::vector<std::string> not_shared;  ///< sentences on files that do
};

Document machine_document(const MachineReport& report);

}  // namespace foretrain
