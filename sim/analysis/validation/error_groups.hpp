// Errors of a validation by what rows share, such as model, GPU or precision.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/validation/validation.hpp"

namespace foretrain {

/// The keys that rows are grouped by, such as {"gpu", "model"}: names of error_group_keys().
using GroupKeys = std::vector<std::string>;

/// The rows that agree in every requested key.
struct ErrorGroup {
  /// Values, one for each key.
  std::vector<std::string> values;
  /// Scored rows.
  int rows = 0;
  /// Rows that are not scored, because the anchor of their group cannot be reached.
  int failed = 0;
  ErrorStatistics error;
  /// Share of rows inside their intervals, as in Validation.
  double coverage = 0;
  /// Median width of the intervals relative to the prediction.
  double width = 0;
};

/// Returns the names of all keys: "cluster", "gpu", …
const std::vector<std::string>& error_group_keys();

/// Groups the rows by these keys, worst median first, then by their values. Groups without a scored row come
/// before all others. Requires names of error_group_keys().
std::vector<ErrorGroup> group_errors(const Validation& validation, const GroupKeys& keys);

}  // namespace foretrain
