// Writes pages of predictions and studies. A page contains what --format json prints, and web/report draws
// it.
#include "sim/report/prediction/html.hpp"

#include "sim/report/page/page.hpp"
#include "sim/report/prediction/json.hpp"
#include "sim/report/study/study_reports.hpp"

namespace foretrain {

std::string write_html(const Prediction& prediction, const ReportOptions& options) {
  return write_predictions_html({prediction}, options);
}

std::string write_predictions_html(const std::vector<Prediction>& predictions, const ReportOptions& options) {
  PageContent content{"prediction", {}};
  for (const Prediction& prediction : predictions) content.reports.push_back(write_json(prediction, options));
  return write_page(content);
}

std::string write_study_html(const StudyResult& study, const ReportOptions& options) {
  return write_page({"study", {write_study_json(study, options)}});
}

}  // namespace foretrain
