// Predicted against measured, for people.
#pragma once

#include <string>

#include "sim/analysis/collective_validation.hpp"
#include "sim/analysis/validation.hpp"

namespace foretrain {

/// Error statistics, one block per series, and what was skipped (reasons with their number of rows).
std::string write_validation_table(const Validation& validation);
/// One line per series instead, worst first.
std::string write_validation_table(const CollectiveValidation& validation);

}  // namespace foretrain
