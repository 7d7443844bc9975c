// Writes the validation of large models as tables: errors beside those of two baselines by groups of rows,
// the order of layouts, and memory. The baselines are a constant model FLOPs utilization and a roofline.
//
// Readers are people who plan large runs. A prediction is only useful where its errors are below those of
// both baselines, so all three stand in one line.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/decimal.hpp"
#include "sim/report/validation/validation_catalog.hpp"

namespace foretrain {

namespace {

using Predicted = std::function<double(const ValidatedLargeModel&)>;

// The three ways of predicting a row.
double by_model(const ValidatedLargeModel& p) { return p.predicted_s; }
double by_mfu(const ValidatedLargeModel& p) { return p.mfu_s; }
double by_roofline(const ValidatedLargeModel& p) { return p.roofline_s; }

/// Returns median and 90th percentile of errors in percent.
std::string pair_of(const ErrorStatistics& s) {
  return fmt::format("{:>6} {:>7}", percent(s.median, 1), percent(s.p90, 1));
}

/// Returns the line of all scored rows, or of those that are not tagged D.
std::string total_line(std::string_view name, const LargeModelValidation& v, bool with_d) {
  std::vector<double> errors[3];
  for (const ValidatedLargeModel& p : v.points) {
    if (p.row->step_s <= 0 || p.is_anchor || (!with_d && p.tag == "D")) continue;
    errors[0].push_back(by_model(p) / p.row->step_s - 1);
    errors[1].push_back(by_mfu(p) / p.row->step_s - 1);
    errors[2].push_back(by_roofline(p) / p.row->step_s - 1);
  }
  const ErrorStatistics own = statistics_of(errors[0]);
  return fmt::format("{:>6}  {} {:>7}   {}   {}   {}\n", errors[0].size(), pair_of(own),
                     signed_percent(own.bias, 1), pair_of(statistics_of(errors[1])),
                     pair_of(statistics_of(errors[2])), name);
}

/// Returns the table of one list of keys, with each group's errors by all three ways.
std::string group_lines(const LargeModelValidation& v, const GroupKeys& keys) {
  const auto of = [&](const Predicted& predicted) {
    std::map<std::vector<std::string>, ErrorGroup> found;
    for (ErrorGroup& group : group_large_models(v, keys, predicted)) found[group.values] = group;
    return found;
  };
  auto mfu = of(by_mfu), roofline = of(by_roofline);
  std::string out = fmt::format("\n{:>6}  {:>14} {:>7}   {:>14}   {:>14}\n", "rows", "predicted", "bias",
                                "constant MFU", "roofline");
  for (const ErrorGroup& group : group_large_models(v, keys, by_model))
    out += fmt::format("{:>6}  {} {:>7}   {}   {}   {}\n", group.rows, pair_of(group.error),
                       signed_percent(group.error.bias, 1), pair_of(mfu[group.values].error),
                       pair_of(roofline[group.values].error), fmt::join(group.values, ", "));
  return out;
}

/// Returns how well layouts of one model on equally many GPUs are ordered: rank correlation, and how often
/// the predicted fastest is nearly the fastest measured.
std::string order_lines(const LargeModelValidation& v) {
  std::vector<LayoutOrder> orders = layout_orders(v);
  if (orders.empty()) return {};
  std::vector<double> correlations;
  int near = 0;
  for (const LayoutOrder& order : orders)
    correlations.push_back(order.correlation), near += order.lost <= 0.05 ? 1 : 0;
  std::ranges::sort(correlations);
  return fmt::format(
      "\nlayouts of one model on as many GPUs: rank correlation {:.2f} at the median of {} groups; the one "
      "predicted\nfastest is within 5 % of the fastest measured in {} of them\n",
      correlations[correlations.size() / 2], orders.size(), near);
}

/// Returns the scores of memory: rows that ran but are predicted not to fit, errors, and verdicts.
std::string memory_lines(const LargeModelValidation& v) {
  const MemoryScore score = memory_score(v);
  std::string out = score.ran == 0
                        ? ""
                        : fmt::format("\nof {} rows that ran, {} are said not to fit ({} %)\n", score.ran,
                                      score.ran_refused, percent(1.0 * score.ran_refused / score.ran, 1));
  if (score.rows == 0 && score.fails == 0) return out;
  out += fmt::format("\nmemory of the first rank: {} rows, median {} %, p90 {} %, bias {} %\n", score.rows,
                     percent(score.error.median, 1), percent(score.error.p90, 1),
                     signed_percent(score.error.bias, 1));
  if (score.fails > 0)
    out += fmt::format(
        "verdict right for {} of {} rows that ran and {} of {} that were out of memory: {} %\n",
        score.fits_right, score.fits, score.fails_right, score.fails,
        percent(static_cast<double>(score.fits_right + score.fails_right) / (score.fits + score.fails), 1));
  return out;
}

/// Returns the skipped rows, counted by reason.
std::string skipped_rows(const std::vector<SkippedRow>& skipped) {
  std::map<std::string, int> reasons;
  for (const SkippedRow& row : skipped) ++reasons[row.why];
  std::string out = reasons.empty() ? "" : "\nSkipped rows\n";
  for (const auto& [why, rows] : reasons) out += fmt::format("{:>6}  {}\n", rows, why);
  return out;
}

/// Returns what the rules of --provenance added to rows.
std::string inferred_lines(const LargeModelValidation& v) {
  std::string out = v.provenance.empty() ? "" : "\nTold by " + v.provenance + ", rows\n";
  for (const InferredSetting& told : v.inferred_settings)
    out += fmt::format("{:>6}  {} ({})\n", told.rows, told.what, told.said_in);
  return out;
}

}  // namespace

std::string write_large_model_table(const LargeModelValidation& v, const std::vector<GroupKeys>& groups) {
  static const std::vector<GroupKeys> kUsual{{"class"},  {"source"},   {"model"}, {"gpu", "precision"},
                                             {"tensor"}, {"pipeline"}, {"gpus"}};
  std::string out =
      fmt::format("{} rows, {} predicted, {} skipped{}\n", v.rows, v.points.size(), v.skipped.size(),
                  v.anchored ? "; the fewest GPUs of each series scale the others" : "");
  out += fmt::format("{:>6}  {:>14} {:>7}   {:>14}   {:>14}   errors in %: median, p90\n", "rows",
                     "predicted", "bias", "constant MFU", "roofline");
  out += total_line("all rows", v, true);
  out += total_line("without those tagged q=D, whose times hold waits of a tenth of a second", v, false);
  out += order_lines(v) + memory_lines(v);
  for (const GroupKeys& keys : groups.empty() ? kUsual : groups) out += group_lines(v, keys);
  return out + inferred_lines(v) + skipped_rows(v.skipped);
}

}  // namespace foretrain
