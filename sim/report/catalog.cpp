// The formats of a prediction: one row each. Adding a format means adding a row and its functions.
#include "sim/report/catalog.hpp"

#include "sim/base/named_rows.hpp"
#include "sim/report/prediction/answer_reports.hpp"
#include "sim/report/prediction/csv.hpp"
#include "sim/report/prediction/html.hpp"
#include "sim/report/prediction/json.hpp"
#include "sim/report/prediction/table.hpp"
#include "sim/report/study/study_reports.hpp"

namespace foretrain {

namespace {

/// Writes several predictions as JSON, which has no options.
std::string write_several_json(const std::vector<Prediction>& predictions, const ReportOptions&) {
  return write_predictions_json(predictions);
}

}  // namespace

// Columns: name, help text, and the writers of one prediction, several, a study, and both scalings; nullptr
// means that the format cannot show it.
const std::vector<ReportEntry>& report_catalog() {
  static const std::vector<ReportEntry> rows{
      {"table", "for people: the answer, or with --details all tables", write_answer_or_table,
       write_predictions_table, write_study_table, write_both_scalings_table},
      {"json", "for programs: foretrain.prediction/1, keys are stable", write_json, write_several_json,
       write_study_json, write_both_scalings_json},
      {"html", "one self-contained page with drawings", write_html, write_predictions_html, write_study_html,
       nullptr},
      {"csv", "for spreadsheets: one line per number of GPUs", write_csv, write_predictions_csv,
       write_study_csv, write_both_scalings_csv},
  };
  return rows;
}

const ReportEntry* find_report(std::string_view name) { return find_row(report_catalog(), name); }

std::vector<std::string> report_names() { return names_of_rows(report_catalog()); }

}  // namespace foretrain
