// The formats of `compare`: one row each.
#include "sim/report/comparison/comparison_catalog.hpp"

#include "sim/base/named_rows.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

const std::vector<ComparisonReportEntry>& comparison_reports() {
  static const std::vector<ComparisonReportEntry> rows{
      {"table", "for people: best first, with the reason", write_comparison_table, write_comparisons_table,
       write_matrix_table, write_machines_table},
      {"json", "for programs: foretrain.comparison/1, keys are stable", write_comparison_json,
       write_comparisons_json, write_matrix_json, write_machines_json},
      {"csv", "for spreadsheets: one line per strategy and number of GPUs", write_comparison_csv,
       write_comparisons_csv, write_matrix_csv, write_machines_csv},
  };
  return rows;
}

const ComparisonReportEntry* find_comparison_report(std::string_view name) {
  return find_row(comparison_reports(), name);
}

std::vector<std::string> comparison_report_names() { return names_of_rows(comparison_reports()); }

}  // namespace foretrain
