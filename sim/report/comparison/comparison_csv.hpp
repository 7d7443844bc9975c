// A comparison for spreadsheets: one line per strategy and number of GPUs.
#pragma once

#include "sim/report/comparison/comparison_catalog.hpp"

namespace foretrain {

std::string write_comparison_csv(const Comparison& comparison, const ReportOptions& options);
/// The lines of all under one header.
std::string write_comparisons_csv(const std::vector<Comparison>& comparisons, const ReportOptions& options);
std::string write_matrix_csv(const StrategyMatrix& matrix);

}  // namespace foretrain
