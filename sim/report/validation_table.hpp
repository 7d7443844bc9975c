// Predicted against measured, for people.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/collective_validation.hpp"
#include "sim/analysis/error_groups.hpp"
#include "sim/analysis/validation.hpp"

namespace foretrain {

/// Error statistics, one table of them for each entry of `groups`, one block per series, and what was skipped (reasons with their number
/// of rows).
std::string write_validation_table(const Validation& validation, const std::vector<GroupKeys>& groups = {});
/// One line per series instead, worst first.
std::string write_validation_table(const CollectiveValidation& validation);

}  // namespace foretrain
