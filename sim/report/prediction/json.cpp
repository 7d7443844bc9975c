// Writes predictions as JSON from their declared fields. Names come from files and may have any bytes;
// invalid UTF-8 is replaced.
#include "sim/report/prediction/json.hpp"

#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

std::string write_json(const Prediction& p, const ReportOptions&) { return json_text(declared_json(p)); }

std::string write_predictions_json(const std::vector<Prediction>& predictions) {
  return json_text(declared_json(SeveralPredictions{predictions}));
}

}  // namespace foretrain
