// The formats of comparisons, of the table of best strategies and of machines: a table of functions, one row
// and one file each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/answer/compare_answer.hpp"
#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/search/machines.hpp"
#include "sim/analysis/search/strategy_matrix.hpp"
#include "sim/report/catalog.hpp"
#include "sim/workload/program/program.hpp"

namespace foretrain {

/// A format of a comparison: its name, and the function that writes it.
struct ComparisonReportEntry {
  std::string_view name;
  std::string_view summary;
  std::string (*write)(const Comparison& comparison, const ReportOptions& options);
  std::string (*write_several)(const std::vector<Comparison>& comparisons, const ReportOptions& options);
  std::string (*write_matrix)(const StrategyMatrix& matrix);
  std::string (*write_machines)(const MachineComparison& machines, const ReportOptions& options);
};

const std::vector<ComparisonReportEntry>& comparison_reports();
const ComparisonReportEntry* find_comparison_report(std::string_view name);
std::vector<std::string> comparison_report_names();

// A comparison for people: a block per number of GPUs, best first, and under each strategy why it is where it
// is.

std::string write_comparison_table(const Comparison& comparison, const ReportOptions& options);
std::string write_matrix_table(const StrategyMatrix& matrix);

/// Recorded programs side by side: what each is, and what its first rank issues and sends in a step.
std::string write_programs_table(const std::vector<const Program*>& programs);  // programs_table.cpp

/// "+3.1 ms broadcast, -0.4 ms optimizer": the two or three largest differences of at least a tenth of the
/// largest.
std::string differences_in_words(const std::vector<StepPart>& differences);

/// Its speed over that of the fastest; none of what does not fit, which has no speed.
inline std::optional<double> known_ratio(const ComparedStrategy& row) {
  return row.point.fits() ? std::optional(row.ratio) : std::nullopt;
}

// A comparison for spreadsheets: one line per strategy and number of GPUs.

std::string write_comparison_csv(const Comparison& comparison, const ReportOptions& options);
/// The lines of all under one header.
std::string write_comparisons_csv(const std::vector<Comparison>& comparisons, const ReportOptions& options);
std::string write_matrix_csv(const StrategyMatrix& matrix);

// A comparison for programs: foretrain.comparison/1 and foretrain.strategies/1.

std::string write_comparison_json(const Comparison& comparison, const ReportOptions& options);
/// Schema foretrain.comparisons/1: "comparisons" has one foretrain.comparison/1 each.
std::string write_comparisons_json(const std::vector<Comparison>& comparisons, const ReportOptions& options);
std::string write_matrix_json(const StrategyMatrix& matrix);

// One training on several machines. The table has the verdict first, at most kMachineColumns columns, and
// what cannot run last, with its reason; JSON is foretrain.machines/1.

inline constexpr std::size_t kMachineColumns = 100;
std::string write_machines_table(const MachineComparison& machines, const ReportOptions& options);
std::string write_machines_json(const MachineComparison& machines, const ReportOptions& options);
/// One line per cluster and number of GPUs.
std::string write_machines_csv(const MachineComparison& machines, const ReportOptions& options);

}  // namespace foretrain
