// A study as JSON with stable keys.
#pragma once

#include <string>

#include "sim/analysis/search/study.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

/// Schema foretrain.study/1: keys are added, never renamed. Times in seconds, sizes in bytes; "fastest" and
/// "cheapest" count combinations from 0. A setting that the combination's strategy does not have is null.
std::string write_study_json(const StudyResult& study, const ReportOptions& options);

}  // namespace foretrain
