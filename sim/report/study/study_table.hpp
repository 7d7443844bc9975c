// A study for people: one line per combination, the fastest and the cheapest marked.
#pragma once

#include <string>

#include "sim/analysis/search/study.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

std::string write_study_table(const StudyResult& study, const ReportOptions& options);

}  // namespace foretrain
