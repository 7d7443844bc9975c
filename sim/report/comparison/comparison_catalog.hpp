// The formats of comparisons: of strategies, of the best strategy for each model and cluster, and of
// machines. Each format has one row in a table of functions.
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

/// A format: its name, its help text, and the functions that write each kind of comparison.
struct ComparisonReportEntry {
  std::string_view name;
  std::string_view summary;
  std::string (*write)(const Comparison& comparison, const ReportOptions& options);
  std::string (*write_several)(const std::vector<Comparison>& comparisons, const ReportOptions& options);
  std::string (*write_matrix)(const StrategyMatrix& matrix);
  std::string (*write_machines)(const MachineComparison& machines, const ReportOptions& options);
};

/// Returns all formats.
const std::vector<ComparisonReportEntry>& comparison_reports();
/// Returns the format of that name; nullptr: there is none.
const ComparisonReportEntry* find_comparison_report(std::string_view name);
/// Returns the names for --format.
std::vector<std::string> comparison_report_names();

// Tables for people: a block for each number of GPUs, best strategy first, with the reason for each place.

/// Returns the table of one training with several strategies.
std::string write_comparison_table(const Comparison& comparison, const ReportOptions& options);
/// Returns the table of the best strategy for each model and cluster.
std::string write_matrix_table(const StrategyMatrix& matrix);

/// Returns recorded programs side by side: what each is, and what its first rank issues and sends in a step.
std::string write_programs_table(const std::vector<const Program*>& programs);  // programs_table.cpp

/// Returns the two or three largest differences in words, such as "+3.1 ms broadcast, -0.4 ms optimizer".
/// Differences below a tenth of the largest are left out.
std::string differences_in_words(const std::vector<StepPart>& differences);

/// Returns the strategy's speed divided by that of the fastest; none when it does not fit into memory and has
/// no speed.
inline std::optional<double> known_ratio(const ComparedStrategy& row) {
  return row.point.fits() ? std::optional(row.ratio) : std::nullopt;
}

// Comparisons for spreadsheets: one line for each strategy and number of GPUs.

/// Returns the lines of one comparison.
std::string write_comparison_csv(const Comparison& comparison, const ReportOptions& options);
/// Returns the lines of all comparisons under one header.
std::string write_comparisons_csv(const std::vector<Comparison>& comparisons, const ReportOptions& options);
/// Returns one line for each model and cluster.
std::string write_matrix_csv(const StrategyMatrix& matrix);

// Comparisons for programs: foretrain.comparison/1 and foretrain.strategies/1.

/// Returns foretrain.comparison/1.
std::string write_comparison_json(const Comparison& comparison, const ReportOptions& options);
/// Returns foretrain.comparisons/1, in which "comparisons" is a list of foretrain.comparison/1.
std::string write_comparisons_json(const std::vector<Comparison>& comparisons, const ReportOptions& options);
/// Returns foretrain.strategies/1.
std::string write_matrix_json(const StrategyMatrix& matrix);

// Reports on one training on several machines. The table has the verdict first and is at most kMachineColumns
// characters wide. Machines that cannot run the training stand last, with the reason.

/// Largest width of the table in characters.
inline constexpr std::size_t kMachineColumns = 100;
/// Returns the table.
std::string write_machines_table(const MachineComparison& machines, const ReportOptions& options);
/// Returns foretrain.machines/1.
std::string write_machines_json(const MachineComparison& machines, const ReportOptions& options);
/// Returns one line for each cluster and number of GPUs.
std::string write_machines_csv(const MachineComparison& machines, const ReportOptions& options);

}  // namespace foretrain
