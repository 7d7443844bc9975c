// Predicted against measured memory, time and verdicts of fine-tunings, row by row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/analysis/validation/error_groups.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/scenario/csv/fine_tuning_rows.hpp"

namespace foretrain {

/// A row as a question; `why_not`: empty where it can be asked.
struct FineTuningCase {
  const FineTuningMeasurement* row = nullptr;
  std::string model, gpu, strategy;
  std::vector<std::string> settings;  ///< "key=value" of the scenario
  std::string why_not;
};

/// One measured fine-tuning run with its prediction.
struct ValidatedFineTuning {
  const FineTuningMeasurement* row = nullptr;
  std::string model, gpu;
  double predicted = 0;      ///< in the row's unit; of fits: the chance that it does
  double low = 0, high = 0;  ///< 90 % of a time or of memory; 0: of a verdict
  SpreadCase spread_case{};  ///< what its interval is a function of
  double allocated_gb = 0,
         total_gb = 0;  ///< bytes of tensors; with the context and what the allocator rounds up
  double error() const { return predicted / row->value - 1; }
};

/// Measured fine-tuning runs against predictions: speed, memory, and who fits.
struct FineTuningValidation {
  int rows = 0;
  std::vector<SkippedRow> skipped;
  std::vector<ValidatedFineTuning> points;
};

/// Rows that no table knows how to ask are skipped with their reason.
FineTuningValidation validate_fine_tunings(const std::vector<FineTuningMeasurement>& rows,
                                           const Progress& progress = nullptr);

/// What a row asks (fine_tuning_cases.cpp).
FineTuningCase fine_tuning_case(const FineTuningMeasurement& row);

/// Errors of one kind of metric.
struct FineTuningScore {
  std::string kind;  ///< "memory" or "time"
  ErrorStatistics error;
  int rows = 0, inside = 0, with_interval = 0;
};

/// "grade", "source", "model", "method", "weights", "gpu", "gpus", "strategy".
const std::vector<std::string>& fine_tuning_keys();
/// Of rows that `is_wanted`, by what they share; memory and time apart ("kind" is always the first value),
/// and times once more as they are where the first of the same source, network, method and GPU calibrates the
/// others.
std::vector<ErrorGroup> group_fine_tunings(const FineTuningValidation& validation, const GroupKeys& keys,
                                           const std::function<bool(const ValidatedFineTuning&)>& is_wanted);

/// Verdicts: rows that ran and rows that were out of memory, and of how many the more probable verdict was
/// right.
struct FitsScore {
  int ran = 0, ran_right = 0, failed = 0, failed_right = 0;
};
FitsScore fits_score(const FineTuningValidation& validation);

}  // namespace foretrain
