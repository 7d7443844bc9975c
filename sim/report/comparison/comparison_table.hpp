// A comparison for people: a block per number of GPUs, best first, and under each strategy why it is where it
// is.
#pragma once

#include "sim/report/comparison/comparison_catalog.hpp"

namespace foretrain {

std::string write_comparison_table(const Comparison& comparison, const ReportOptions& options);
std::string write_matrix_table(const StrategyMatrix& matrix);

/// "+3.1 ms broadcast, -0.4 ms optimizer": the two or three largest differences of at least a tenth of the
/// largest.
std::string differences_in_words(const std::vector<StepPart>& differences);

}  // namespace foretrain
