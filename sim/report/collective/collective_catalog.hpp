// The formats of a collective's curve: a table of functions, one row and one file each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

using CollectiveReportFunction = std::string (*)(const CollectiveCurve& curve, const ReportOptions& options);

struct CollectiveReportEntry {
  std::string_view name;
  std::string_view summary;
  CollectiveReportFunction write;
};

const std::vector<CollectiveReportEntry>& collective_reports();
/// Null when there is none of this name.
const CollectiveReportEntry* find_collective_report(std::string_view name);
std::vector<std::string> collective_report_names();

}  // namespace foretrain
