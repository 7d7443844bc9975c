// One row per format; the first is the default.
#include "sim/report/collective/collective_catalog.hpp"

#include "sim/report/collective/collective_csv.hpp"
#include "sim/report/collective/collective_json.hpp"
#include "sim/report/collective/nccl_tests.hpp"

namespace foretrain {

const std::vector<CollectiveReportEntry>& collective_reports() {
  static const std::vector<CollectiveReportEntry> rows{
      {"nccl-tests", "the table of nccl-tests, for eyes and for scripts that read it", write_nccl_tests},
      {"csv", "for spreadsheets: one line per size, with algorithm, protocol, channels, bottleneck",
       write_collective_csv},
      {"json", "for programs: foretrain.collective/1, keys are stable", write_collective_json},
  };
  return rows;
}

const CollectiveReportEntry* find_collective_report(std::string_view name) {
  for (const CollectiveReportEntry& row : collective_reports()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::vector<std::string> collective_report_names() {
  std::vector<std::string> names;
  for (const CollectiveReportEntry& row : collective_reports()) names.emplace_back(row.name);
  return names;
}

}  // namespace foretrain
