// A study in each format: a table for people, JSON for programs, and CSV for spreadsheets.
#pragma once

#include <string>

#include "sim/analysis/search/study.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

/// Returns the table: a line for each combination, then the fastest and the cheapest.
std::string write_study_table(const StudyResult& study, const ReportOptions& options);

// The study as CSV.

/// Returns a header and a line for each combination, with its settings first. Units are seconds and bytes.
std::string write_study_csv(const StudyResult& study, const ReportOptions& options);

// The study as JSON with stable keys.

/// Returns schema foretrain.study/1. Keys are added, never renamed. Times are in seconds and sizes in bytes.
/// "fastest" and "cheapest" are indices of combinations from 0. A setting that the combination's strategy
/// does not have is null.
std::string write_study_json(const StudyResult& study, const ReportOptions& options);

}  // namespace foretrain
