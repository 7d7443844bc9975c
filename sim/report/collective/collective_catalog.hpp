// The formats of a collective's curve: a table of functions, with one row and one file for each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

using CollectiveReportFunction = std::string (*)(const CollectiveCurve& curve, const ReportOptions& options);

/// A format: its name, its help text, and the function that writes it.
struct CollectiveReportEntry {
  std::string_view name;
  std::string_view summary;
  CollectiveReportFunction write;
};

/// Returns all formats.
const std::vector<CollectiveReportEntry>& collective_reports();
/// Returns the format of that name; nullptr: there is none.
const CollectiveReportEntry* find_collective_report(std::string_view name);
/// Returns the names for --format.
std::vector<std::string> collective_report_names();

// The curve as CSV.

/// Returns a header line and one line for each size. Units are those of nccl-tests: bytes, microseconds,
/// GB/s. With `explain` there is a further column `why`.
std::string write_collective_csv(const CollectiveCurve& curve, const ReportOptions& options);

// The curve as JSON.

/// Returns schema foretrain.collective/1, in seconds, bytes and bytes per second. Keys are added, never
/// renamed. With `explain` points also have "why".
std::string write_collective_json(const CollectiveCurve& curve, const ReportOptions& options);

// The curve in the layout of nccl-tests.

/// Returns the table of nccl-tests; comments begin with '#'. In-place and out-of-place columns are equal
/// here, and the check column is N/A since nothing ran. The first line states that it is a prediction. With
/// `explain` a comment follows for each size.
std::string write_nccl_tests(const CollectiveCurve& curve, const ReportOptions& options);

// The explanation of a collective's time, one line for each size.

/// Returns a line on how processes launch kernels, and then a line for each size: algorithm, protocol,
/// channels, parts of the time, what bounds it, and which alternatives were slower.
std::vector<std::string> explain(const CollectiveCurve& curve);

}  // namespace foretrain
