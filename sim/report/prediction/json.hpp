// Predictions and validations as JSON with stable keys.
#pragma once

#include "sim/analysis/validation/collective_validation.hpp"
#include "sim/analysis/validation/error_groups.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

/// Returns schema foretrain.prediction/1. Keys are added, never renamed. Times are in seconds and sizes in
/// bytes.
std::string write_json(const Prediction& prediction, const ReportOptions& options);

/// Returns schema foretrain.predictions/1: {"schema", "predictions": [one prediction each]}.
std::string write_predictions_json(const std::vector<Prediction>& predictions);

/// Returns schema foretrain.validation/1. For collectives, times are in microseconds, and "large" has the
/// errors of sizes from kLargeMessage on. "groups", when asked for, has the errors of rows with the same
/// values of the keys "by", and how many of them failed because of an unusable calibration row.
std::string write_validation_json(const Validation& validation, const std::vector<GroupKeys>& groups = {});
std::string write_validation_json(const CollectiveValidation& validation);

}  // namespace foretrain
