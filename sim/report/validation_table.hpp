// Predicted against measured, for people.
#pragma once

#include <string>

#include "sim/analysis/validation.hpp"

namespace foretrain {

/// Error statistics, one block per series, and what was skipped (reasons with their number of rows).
std::string write_validation_table(const Validation& validation);

}  // namespace foretrain
