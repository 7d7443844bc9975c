// Predictions and studies as one page without further files.
#pragma once

#include "sim/report/catalog.hpp"

namespace foretrain {

/// Returns the page of --format html. It lacks what only --html adds: timeline, scenario and command line.
std::string write_html(const Prediction& prediction, const ReportOptions& options);
std::string write_predictions_html(const std::vector<Prediction>& predictions, const ReportOptions& options);
std::string write_study_html(const StudyResult& study, const ReportOptions& options);

}  // namespace foretrain
