// Writes the result of `calibrate check` as a table and as JSON. The table has the total first, then one row
// for each platform, worst first.
//
// The check fits a part of the samples and predicts the others, so its errors are those of sizes or jobs that
// the fit has not seen.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/report/calibration/calibration_reports.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

namespace {

/// Returns which samples were held out, in words.
std::string_view held_out(HoldOut hold_out) {
  switch (hold_out) {
    case HoldOut::sizes:
      return "every second size of each operation and job";
    case HoldOut::nodes:
      return "all jobs on more nodes than the smallest";
    case HoldOut::gpus:
      break;
  }
  return "all jobs on more GPUs than the smallest";
}

/// Returns the name that --hold-out takes.
std::string_view name_of_hold_out(HoldOut hold_out) {
  return hold_out == HoldOut::sizes ? "sizes" : hold_out == HoldOut::nodes ? "nodes" : "gpus";
}

/// Returns a line of error statistics: median and 90th percentile of absolute errors, and the signed mean
/// (bias), in percent.
std::string errors_line(std::string_view name, const ErrorStatistics& e) {
  return fmt::format("{:<8} median {:>6} %   p90 {:>6} %   bias {:>7} %\n", name, percent(e.median, 2),
                     percent(e.p90, 2), signed_percent(e.bias, 2));
}

/// Returns the statistics as JSON; errors are shares, not percent.
Json json_of(const ErrorStatistics& e) {
  return {{"median", e.median}, {"p90", e.p90}, {"mean", e.mean}, {"bias", e.bias}};
}

}  // namespace

// Platforms that could not be checked stand below the table, each with its reason.
std::string write_check_table(const CalibrationCheck& check) {
  std::string out = fmt::format("held out: {}\n", held_out(check.hold_out));
  out += fmt::format(
      "{} fitted, {} predicted; error of those, with the model's defaults and with the "
      "calibration:\n",
      counted(check.fitted, "sample"), check.held);
  if (check.held > 0) {
    out += errors_line("before", check.before) + errors_line("after", check.after);
    out += fmt::format("median after at most 5 %: {} of {}\n", check.within_five_percent,
                       counted(check.platforms, "platform"));
  }
  // Columns: median error before and after the fit, 90th percentile and bias after it, samples that were
  // fitted and held out, and the platform.
  out += fmt::format("\n{:>9} {:>9} {:>9} {:>9} {:>7} {:>7}  platform\n", "before", "after", "p90", "bias",
                     "fitted", "held");
  for (const CheckedPlatform& p : check.checked) {
    if (!p.why_not.empty()) continue;
    out += fmt::format("{:>7} % {:>7} % {:>7} % {:>7} % {:>7} {:>7}  {}\n", percent(p.before.median, 1),
                       percent(p.after.median, 1), percent(p.after.p90, 1), signed_percent(p.after.bias, 1),
                       p.fitted, p.held, p.name);
  }
  const auto left =
      std::ranges::count_if(check.checked, [](const CheckedPlatform& p) { return !p.why_not.empty(); });
  if (left > 0) out += fmt::format("\nnot checked ({}):\n", left);
  for (const CheckedPlatform& p : check.checked) {
    if (!p.why_not.empty()) out += fmt::format("  {}: {}\n", p.name, p.why_not);
  }
  return out;
}

// `checked` has all platforms; `not_checked` is the reason of those without errors.
std::string write_check_json(const CalibrationCheck& check) {
  Json platforms = Json::array();
  for (const CheckedPlatform& p : check.checked) {
    Json row{{"platform", p.name},
             {"fitted", p.fitted},
             {"held", p.held},
             {"before", json_of(p.before)},
             {"after", json_of(p.after)}};
    if (!p.why_not.empty()) row["not_checked"] = p.why_not;
    platforms.push_back(std::move(row));
  }
  const Json root{{"schema", "foretrain.calibration_check/1"},
                  {"hold_out", name_of_hold_out(check.hold_out)},
                  {"fitted", check.fitted},
                  {"held", check.held},
                  {"before", json_of(check.before)},
                  {"after", json_of(check.after)},
                  {"platforms", check.platforms},
                  {"within_five_percent", check.within_five_percent},
                  {"checked", platforms}};
  return json_text(root);
}

}  // namespace foretrain
