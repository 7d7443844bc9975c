// Writes weak and strong scaling together. Each format does so in its own way.
#include "sim/report/prediction/answer_reports.hpp"
#include "sim/report/prediction/crossover_table.hpp"
#include "sim/report/prediction/csv.hpp"
#include "sim/report/prediction/json.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

// The table has both answers, each with its name, and a sentence that compares them.
std::string write_both_scalings_table(const Prediction& weak, const Prediction& strong,
                                      const ReportOptions& options) {
  return write_named_answer(weak, options) + "\n" + write_named_answer(strong, options) + "\n" +
         scaling_verdict(weak, strong);
}

// JSON is that of several predictions.
std::string write_both_scalings_json(const Prediction& weak, const Prediction& strong, const ReportOptions&) {
  return write_predictions_json({weak, strong});
}

// The second CSV has the same header, which is left out.
std::string write_both_scalings_csv(const Prediction& weak, const Prediction& strong,
                                    const ReportOptions& options) {
  const std::string below = write_csv(strong, options);
  return write_csv(weak, options) + below.substr(below.find('\n') + 1);
}

}  // namespace foretrain
