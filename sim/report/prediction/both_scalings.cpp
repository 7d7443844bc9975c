// Each format puts two predictions together in its own way.
#include "sim/report/prediction/both_scalings.hpp"

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/report/prediction/crossover_table.hpp"
#include "sim/report/prediction/csv.hpp"
#include "sim/report/prediction/json.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

std::string write_both_scalings(const Prediction& weak, const Prediction& strong, std::string_view format,
                                const ReportOptions& options) {
  if (format == "table")
    return write_table(weak, options) + "\n" + write_table(strong, options) + "\n" +
           scaling_verdict(weak, strong);
  if (format == "json") return write_predictions_json({weak, strong});
  if (format == "csv") {
    const std::string below = write_csv(strong, options);
    return write_csv(weak, options) + below.substr(below.find('\n') + 1);
  }
  throw InputError(fmt::format("--scaling both has no {}", format),
                   "ask for --scaling weak and --scaling strong, or for table, json or csv");
}

}  // namespace foretrain
