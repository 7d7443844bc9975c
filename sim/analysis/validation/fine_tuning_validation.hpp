// Predicted against measured memory, time and verdicts of fine-tuning runs, row by row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/analysis/validation/error_groups.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/scenario/csv/fine_tuning_rows.hpp"

namespace foretrain {

/// A row translated into a scenario.
struct FineTuningCase {
  const FineTuningMeasurement* row = nullptr;
  std::string model, gpu, strategy;
  /// Settings of the scenario as "key=value".
  std::vector<std::string> settings;
  /// The reason why the row cannot be predicted; empty if it can.
  std::string why_not;
};

/// A measured fine-tuning run with its prediction.
struct ValidatedFineTuning {
  const FineTuningMeasurement* row = nullptr;
  std::string model, gpu;
  /// Prediction in the row's unit; for a verdict the probability that the run fits.
  double predicted = 0;
  /// The 90 % interval of a time or of memory; 0 for a verdict.
  double low = 0, high = 0;
  /// The case that the interval is a function of.
  SpreadCase spread_case{};
  /// Memory in GB: tensors alone, and with the CUDA context and the allocator's rounding.
  double allocated_gb = 0, total_gb = 0;
  /// Returns predicted / measured - 1.
  double error() const { return predicted / row->value - 1; }
};

/// Measured fine-tuning runs against predictions of speed, memory, and fitting.
struct FineTuningValidation {
  int rows = 0;
  std::vector<SkippedRow> skipped;
  std::vector<ValidatedFineTuning> points;
};

/// Predicts all rows. Rows that no table can translate are skipped with their reason.
FineTuningValidation validate_fine_tunings(const std::vector<FineTuningMeasurement>& rows,
                                           const Progress& progress = nullptr);

/// Translates a row into a scenario, or states why it cannot (fine_tuning_cases.cpp).
FineTuningCase fine_tuning_case(const FineTuningMeasurement& row);

/// Returns the names of all keys: "grade", "source", "model", "method", "weights", "gpu", "gpus", "strategy".
const std::vector<std::string>& fine_tuning_keys();
/// Groups the rows that `is_wanted` by what they share, memory and time apart: the kind is always the first
/// value. Times appear a second time, calibrated by the first row of the same source, network, method and
/// GPU. Verdicts are left out.
std::vector<ErrorGroup> group_fine_tunings(const FineTuningValidation& validation, const GroupKeys& keys,
                                           const std::function<bool(const ValidatedFineTuning&)>& is_wanted);

/// Verdicts: rows that ran and rows that were out of memory, and for how many of each the more probable
/// verdict was right.
struct FitsScore {
  int ran = 0, ran_right = 0, failed = 0, failed_right = 0;
};
/// Counts the verdicts of all rows that have one.
FitsScore fits_score(const FineTuningValidation& validation);

}  // namespace foretrain
