// One row per format.
#include "sim/report/comparison/comparison_catalog.hpp"

#include "sim/report/comparison/comparison_csv.hpp"
#include "sim/report/comparison/comparison_json.hpp"
#include "sim/report/comparison/comparison_table.hpp"
#include "sim/report/prediction/predictions_table.hpp"

namespace foretrain {

const std::vector<ComparisonReportEntry>& comparison_reports() {
  static const std::vector<ComparisonReportEntry> rows{
      {"table", "for people: best first, with the reason", write_comparison_table, write_comparisons_table,
       write_matrix_table},
      {"json", "for programs: foretrain.comparison/1, keys are stable", write_comparison_json,
       write_comparisons_json, write_matrix_json},
      {"csv", "for spreadsheets: one line per strategy and number of GPUs", write_comparison_csv,
       write_comparisons_csv, write_matrix_csv},
  };
  return rows;
}

const ComparisonReportEntry* find_comparison_report(std::string_view name) {
  for (const ComparisonReportEntry& row : comparison_reports()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::vector<std::string> comparison_report_names() {
  std::vector<std::string> names;
  for (const ComparisonReportEntry& row : comparison_reports()) names.emplace_back(row.name);
  return names;
}

}  // namespace foretrain
