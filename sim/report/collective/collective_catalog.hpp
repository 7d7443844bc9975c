// The formats of a collective's curve: a table of functions, one row and one file each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

using CollectiveReportFunction = std::string (*)(const CollectiveCurve& curve, const ReportOptions& options);

/// A format of a collective's report: its name, and the function that writes it.
struct CollectiveReportEntry {
  std::string_view name;
  std::string_view summary;
  CollectiveReportFunction write;
};

const std::vector<CollectiveReportEntry>& collective_reports();
/// Null when there is none of this name.
const CollectiveReportEntry* find_collective_report(std::string_view name);
std::vector<std::string> collective_report_names();

// A collective's curve as CSV.

/// One header line, one line per size; microseconds, bytes and GB/s as nccl-tests has them. explain: one more
/// column, why.
std::string write_collective_csv(const CollectiveCurve& curve, const ReportOptions& options);

// A collective's curve as JSON with stable keys.

/// Schema foretrain.collective/1: keys are added, never renamed. Seconds, bytes, bytes per second. explain:
/// points also have "why".
std::string write_collective_json(const CollectiveCurve& curve, const ReportOptions& options);

// A collective's curve as nccl-tests prints its results.

/// The table of nccl-tests: comments begin with '#'; out of place and in place are the same here, and nothing
/// was checked (N/A). Said to be a prediction in the first line. explain: one more comment per size.
std::string write_nccl_tests(const CollectiveCurve& curve, const ReportOptions& options);

// Why a collective takes as long as it does, in words: a line per size.

/// How the processes launch, then a line per size: algorithm, protocol, channels, the parts of the time, what
/// bounds it, what lost.
std::vector<std::string> explain(const CollectiveCurve& curve);

}  // namespace foretrain
