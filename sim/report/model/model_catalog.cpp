// The formats of `model show`: one row each; the first is the default.
#include "sim/report/model/model_catalog.hpp"

#include "sim/base/named_rows.hpp"

namespace foretrain {

const std::vector<ModelReportEntry>& model_reports() {
  static const std::vector<ModelReportEntry> rows{
      {"table", "for people: layers, totals, and where the kernel time goes", write_model_table},
      {"json", "for programs: foretrain.model/1, keys are stable", write_model_json},
      {"csv", "for spreadsheets: one line per layer", write_model_csv},
  };
  return rows;
}

const ModelReportEntry* find_model_report(std::string_view name) { return find_row(model_reports(), name); }

std::vector<std::string> model_report_names() { return names_of_rows(model_reports()); }

}  // namespace foretrain
