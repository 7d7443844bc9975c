// The report formats of a prediction: a table of functions, with one row and one file for each format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/search/study.hpp"

namespace foretrain {

/// Options that all formats of a prediction share. Most only affect the table.
struct ReportOptions {
  /// Appends the decisions and their reasons (table only).
  bool explain = false;
  /// Writes all tables of a prediction instead of its answer (table only).
  bool details = false;
  // The following options describe the terminal that a table goes to.
  /// Width of the terminal in characters; 0: none, as for a file.
  std::size_t columns = 0;
  /// The terminal can show efficiencies as bars of block characters.
  bool bars = false;
  /// Writes the answer alone (curve, verdicts, rows), wherever it goes.
  bool quiet = false;
};

using ReportFunction = std::string (*)(const Prediction& prediction, const ReportOptions& options);

/// A format of a prediction: its name, its help text, and the functions that write it.
struct ReportEntry {
  std::string_view name;
  std::string_view summary;
  ReportFunction write;
  std::string (*write_several)(const std::vector<Prediction>& predictions,
                               const ReportOptions& options);  ///< nullptr: only one
  std::string (*write_study)(const StudyResult& study,
                             const ReportOptions& options);  ///< nullptr: no studies
  std::string (*write_both_scalings)(const Prediction& weak, const Prediction& strong,
                                     const ReportOptions& options);  ///< nullptr: only one
};

/// Returns all formats; the first is the default.
const std::vector<ReportEntry>& report_catalog();
/// Returns the format of that name; nullptr: there is none.
const ReportEntry* find_report(std::string_view name);
/// Returns the names for --format.
std::vector<std::string> report_names();

}  // namespace foretrain
