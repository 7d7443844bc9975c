// Writes the validation of fine-tunings: errors of memory and time by groups of rows, verdicts on fitting,
// skipped rows.
//
// A row measures memory, a time or rate, or whether a job ran at all. Errors are in percent of the measured
// value, and a verdict is right when prediction and job agree on whether it fits.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/decimal.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/validation/validation_catalog.hpp"

namespace foretrain {

namespace {

/// Returns a line for each group: rows, median, 90th percentile and bias of errors in percent, and the share
/// of times inside the 90 % interval.
std::string tuning_lines(const FineTuningValidation& v, const GroupKeys& keys,
                         const std::function<bool(const ValidatedFineTuning&)>& is_wanted) {
  std::string out;
  for (const ErrorGroup& group : group_fine_tunings(v, keys, is_wanted)) {
    const bool is_time = group.values.front() == "time";
    out += fmt::format("{:>6} {:>7} {:>7} {:>7}  {:>6}   {}\n", group.rows, percent(group.error.median, 1),
                       percent(group.error.p90, 1), signed_percent(group.error.bias, 1),
                       is_time ? percent(group.coverage, 0) : "-", fmt::join(group.values, ", "));
  }
  return out;
}

/// Returns the skipped rows, counted by reason.
std::string skipped_tunings(const FineTuningValidation& v) {
  std::map<std::string, int> reasons;
  for (const SkippedRow& row : v.skipped) ++reasons[row.why];
  std::string out = reasons.empty() ? "" : "\nSkipped rows\n";
  for (const auto& [why, rows] : reasons) out += fmt::format("{:>6}  {}\n", rows, why);
  return out;
}

}  // namespace

// Rows of grades A and B come first, as their sources are the most reliable.
std::string write_fine_tuning_table(const FineTuningValidation& v, const std::vector<GroupKeys>& groups) {
  static const std::vector<GroupKeys> kUsual{{"source"}, {"method"}, {"weights"}, {"gpus"}};
  const auto all = [](const ValidatedFineTuning&) { return true; };
  const auto certain = [](const ValidatedFineTuning& p) {
    return p.row->grade() == 'A' || p.row->grade() == 'B';
  };
  const std::string head =
      fmt::format("{:>6} {:>7} {:>7} {:>7}  {:>6}\n", "rows", "median", "p90", "bias", "inside");
  std::string out =
      fmt::format("{} rows, {} predicted, {} skipped; errors in %\n\nGrades A and B\n{}{}", v.rows,
                  v.points.size(), v.skipped.size(), head, tuning_lines(v, {}, certain));
  out += fmt::format("\nAll grades\n{}{}", head, tuning_lines(v, {}, all));
  // Verdicts are counted separately for jobs that ran and for jobs that ran out of memory.
  const FitsScore fits = fits_score(v);
  if (fits.ran + fits.failed > 0)
    out += fmt::format("\nverdict right for {} of {} jobs that ran and {} of {} that were out of memory\n",
                       fits.ran_right, fits.ran, fits.failed_right, fits.failed);
  for (const GroupKeys& keys : groups.empty() ? kUsual : groups)
    out += fmt::format("\nBy {}\n{}{}", fmt::join(keys, ", "), head, tuning_lines(v, keys, all));
  return out + skipped_tunings(v);
}

// There is one point for each predicted row.
std::string write_fine_tuning_json(const FineTuningValidation& v, const std::vector<GroupKeys>&) {
  constexpr std::string_view kTuningMetricNames[] = {"memory_gb", "step_s", "tokens_per_s", "samples_per_s",
                                                     "fits"};
  Json json{{"schema", "foretrain.validation/1"}, {"kind", "fine_tunings"}, {"rows", v.rows}};
  json["points"] = Json::array(), json["skipped"] = Json::array();
  for (const ValidatedFineTuning& p : v.points)
    json["points"].push_back({{"line", p.row->line},
                              {"source", p.row->source},
                              {"model", p.model},
                              {"method", p.row->method},
                              {"gpu", p.gpu},
                              {"gpus", p.row->gpus},
                              {"metric", kTuningMetricNames[static_cast<std::size_t>(p.row->metric)]},
                              {"measured", p.row->value},
                              {"predicted", p.predicted},
                              {"low", p.low},
                              {"high", p.high},
                              {"allocated_gb", p.allocated_gb},
                              {"total_gb", p.total_gb}});
  for (const SkippedRow& row : v.skipped) json["skipped"].push_back({{"row", row.row}, {"why", row.why}});
  return json_text(json);
}

}  // namespace foretrain
