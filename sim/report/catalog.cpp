// One row per format.
#include "sim/report/catalog.hpp"

#include "sim/report/prediction/csv.hpp"
#include "sim/report/prediction/html.hpp"
#include "sim/report/prediction/json.hpp"
#include "sim/report/prediction/predictions_table.hpp"
#include "sim/report/prediction/table.hpp"
#include "sim/report/study/study_csv.hpp"
#include "sim/report/study/study_json.hpp"
#include "sim/report/study/study_table.hpp"

namespace foretrain {

namespace {

std::string write_several_json(const std::vector<Prediction>& predictions, const ReportOptions&) {
  return write_predictions_json(predictions);
}

}  // namespace

const std::vector<ReportEntry>& report_catalog() {
  static const std::vector<ReportEntry> rows{
      {"table", "for people: the scaling table and the crossover", write_table, write_predictions_table,
       write_study_table},
      {"json", "for programs: foretrain.prediction/1, keys are stable", write_json, write_several_json,
       write_study_json},
      {"html", "one self-contained page with drawings", write_html, nullptr, nullptr},
      {"csv", "for spreadsheets: one line per number of GPUs", write_csv, write_predictions_csv,
       write_study_csv},
  };
  return rows;
}

const ReportEntry* find_report(std::string_view name) {
  for (const ReportEntry& row : report_catalog()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::vector<std::string> report_names() {
  std::vector<std::string> names;
  for (const ReportEntry& row : report_catalog()) names.emplace_back(row.name);
  return names;
}

}  // namespace foretrain
