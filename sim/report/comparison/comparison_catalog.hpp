// The formats of comparisons and of the table of best strategies: a table of functions, one row and one file
// each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/search/strategy_matrix.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

struct ComparisonReportEntry {
  std::string_view name;
  std::string_view summary;
  std::string (*write)(const Comparison& comparison, const ReportOptions& options);
  std::string (*write_several)(const std::vector<Comparison>& comparisons, const ReportOptions& options);
  std::string (*write_matrix)(const StrategyMatrix& matrix);
};

const std::vector<ComparisonReportEntry>& comparison_reports();
const ComparisonReportEntry* find_comparison_report(std::string_view name);
std::vector<std::string> comparison_report_names();

}  // namespace foretrain
