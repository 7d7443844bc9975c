// Predictions and studies as one self-contained page.
#pragma once

#include "sim/report/catalog.hpp"

namespace foretrain {

/// --format html: without what only the command line knows (timeline, scenario, command).
std::string write_html(const Prediction& prediction, const ReportOptions& options);
std::string write_predictions_html(const std::vector<Prediction>& predictions, const ReportOptions& options);
std::string write_study_html(const StudyResult& study, const ReportOptions& options);

}  // namespace foretrain
