// The report formats of a prediction: a table of functions, one row and one file each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/search/study.hpp"

namespace foretrain {

/// Options that all formats of a prediction share.
struct ReportOptions {
  bool explain = false;  ///< append the decisions (table only)
  bool details = false;  ///< all tables of a prediction instead of its answer (table only)
  // Of a terminal, and of tables only.
  std::size_t columns = 0;  ///< how wide it is; 0: none, and the table is as in a file
  bool bars = false;        ///< it shows efficiencies as bars of block characters
  bool quiet = false;       ///< the answer alone (curve, verdicts, rows), wherever it goes
};

using ReportFunction = std::string (*)(const Prediction& prediction, const ReportOptions& options);

/// A format of a prediction: its name, and the function that writes it.
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

const std::vector<ReportEntry>& report_catalog();
const ReportEntry* find_report(std::string_view name);
std::vector<std::string> report_names();

}  // namespace foretrain
