// Errors of a validation by what the rows share: which model, GPU or precision is predicted how well.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/validation/validation.hpp"

namespace foretrain {

/// What rows are grouped by, as in {"gpu", "model"}: names of error_group_keys().
using GroupKeys = std::vector<std::string>;

/// Rows that agree in every key asked for.
struct ErrorGroup {
  std::vector<std::string> values;  ///< one for each key
  int rows = 0;                     ///< scored
  int failed = 0;                   ///< not scored, since their anchor cannot be reached
  ErrorStatistics error;
  double coverage = 0;  ///< as of Validation
  double width = 0;     ///< median of the intervals' widths over what is predicted
};

/// "cluster", "gpu", …
const std::vector<std::string>& error_group_keys();

/// Groups of the rows by these keys, worst median first, then by their values; those of which no row is
/// scored before all.
std::vector<ErrorGroup> group_errors(const Validation& validation, const GroupKeys& keys);

}  // namespace foretrain
