// The report of `calibrate machine`: measurements, predictions before and after the fit, and the largest
// errors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/fit/calibration_fit.hpp"
#include "sim/analysis/validation/measured_machine.hpp"
#include "sim/import/logs/measured_steps.hpp"
#include "sim/report/calibration/document.hpp"

namespace foretrain {

/// The result of one stage.
struct ReportedStage {
  std::string name, state, said;
  double seconds = 0;
};

/// Everything that the report on a measured machine shows.
struct MachineReport {
  /// Facts about the machine: gpu, driver, torch, …
  Settings about;
  std::vector<ReportedStage> stages;
  std::vector<MachineStep> steps;
  /// Sentences on configurations without a row.
  std::vector<std::string> left_out;
  /// Errors with the catalog's constants, with constants from foretrain-bench alone, and with all fitted
  /// constants.
  std::optional<MachineScores> before, after_bench, after;
  std::optional<CalibrationFit> fit;
  std::vector<MeasuredLoader> loaders;
  /// Files without names of persons, hosts or folders.
  std::vector<std::string> shared;
  /// Sentences on files that have such names.
  std::vector<std::string> not_shared;
};

/// Returns the report as a document, with one section for each topic.
Document machine_document(const MachineReport& report);

}  // namespace foretrain
