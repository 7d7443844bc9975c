// A comparison for programs: foretrain.comparison/1 and foretrain.strategies/1.
#pragma once

#include "sim/report/comparison/comparison_catalog.hpp"

namespace foretrain {

std::string write_comparison_json(const Comparison& comparison, const ReportOptions& options);
/// Schema foretrain.comparisons/1: "comparisons" has one foretrain.comparison/1 each.
std::string write_comparisons_json(const std::vector<Comparison>& comparisons, const ReportOptions& options);
std::string write_matrix_json(const StrategyMatrix& matrix);

}  // namespace foretrain
