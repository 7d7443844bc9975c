// Predictions and validations as JSON with stable keys.
#pragma once

#include "sim/analysis/validation/collective_validation.hpp"
#include "sim/analysis/validation/error_groups.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

/// Schema foretrain.prediction/1: keys are added, never renamed. Times in seconds, sizes in bytes.
std::string write_json(const Prediction& prediction, const ReportOptions& options);

/// Schema foretrain.predictions/1: {"schema", "predictions": [each as above]}.
std::string write_predictions_json(const std::vector<Prediction>& predictions);

/// Schema foretrain.validation/1. Collectives: times in microseconds; "large" are the errors of sizes from
/// kLargeMessage on. "groups", when asked for: errors of the rows that share what "by" says, and how many of
/// them failed for an anchor that cannot be reached.
std::string write_validation_json(const Validation& validation, const std::vector<GroupKeys>& groups = {});
std::string write_validation_json(const CollectiveValidation& validation);

}  // namespace foretrain
