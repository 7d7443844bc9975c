// A study as CSV.
#pragma once

#include <string>

#include "sim/analysis/search/study.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

/// One header line, one line per combination; first its settings, seconds and bytes behind them.
std::string write_study_csv(const StudyResult& study, const ReportOptions& options);

}  // namespace foretrain
