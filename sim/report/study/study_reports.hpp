// A study in each format: a table for people, JSON for programs, CSV for spreadsheets.
#pragma once

#include <string>

#include "sim/analysis/search/study.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

std::string write_study_table(const StudyResult& study, const ReportOptions& options);

// A study as CSV.

/// One header line, one line per combination; first its settings, seconds and bytes behind them.
std::string write_study_csv(const StudyResult& study, const ReportOptions& options);

// A study as JSON with stable keys.

/// Schema foretrain.study/1: keys are added, never renamed. Times in seconds, sizes in bytes; "fastest" and
/// "cheapest" count combinations from 0. A setting that the combination's strategy does not have is null.
std::string write_study_json(const StudyResult& study, const ReportOptions& options);

}  // namespace foretrain
