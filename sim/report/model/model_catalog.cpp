// One row per format; the first is the default.
#include "sim/report/model/model_catalog.hpp"

#include "sim/report/model/model_csv.hpp"
#include "sim/report/model/model_json.hpp"
#include "sim/report/model/model_table.hpp"

namespace foretrain {

const std::vector<ModelReportEntry>& model_reports() {
  static const std::vector<ModelReportEntry> rows{
      {"table", "for people: layers, totals, and where the kernel time goes", write_model_table},
      {"json", "for programs: foretrain.model/1, keys are stable", write_model_json},
      {"csv", "for spreadsheets: one line per layer", write_model_csv},
  };
  return rows;
}

const ModelReportEntry* find_model_report(std::string_view name) {
  for (const ModelReportEntry& row : model_reports()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::vector<std::string> model_report_names() {
  std::vector<std::string> names;
  for (const ModelReportEntry& row : model_reports()) names.emplace_back(row.name);
  return names;
}

}  // namespace foretrain
