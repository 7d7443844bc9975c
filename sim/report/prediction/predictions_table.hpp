// Predictions or comparisons of several scenarios below each other, and what they come to.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/search/compare.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

/// Each as by itself; then one line per scenario, on the largest number of GPUs that all list, or else on the
/// largest of each.
std::string write_predictions_table(const std::vector<Prediction>& predictions, const ReportOptions& options);
std::string write_comparisons_table(const std::vector<Comparison>& comparisons, const ReportOptions& options);

}  // namespace foretrain
