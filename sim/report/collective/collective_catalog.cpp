// The formats of `collective`: one row each; the first is the default.
#include "sim/report/collective/collective_catalog.hpp"

#include "sim/base/named_rows.hpp"

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
  return find_row(collective_reports(), name);
}

std::vector<std::string> collective_report_names() { return names_of_rows(collective_reports()); }

}  // namespace foretrain
