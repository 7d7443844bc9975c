// Predictions and validations as JSON with stable keys.
#pragma once

#include "sim/analysis/validation.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

/// Schema foretrain.prediction/1: keys are added, never renamed. Times in seconds, sizes in bytes.
std::string write_json(const Prediction& prediction, const ReportOptions& options);

/// Schema foretrain.validation/1.
std::string write_validation_json(const Validation& validation);

}  // namespace foretrain
