// Writes validations as tables: one line for each scored row of a training run, or for each series of
// collectives. Skipped rows are counted by reason.
//
// The error of a row is predicted / measured - 1. Median, 90th percentile (p90) and mean are of its absolute
// value; bias is the signed mean, negative when predictions are too small. Coverage is the share of measured
// values inside their 90 % intervals, and width is the median width of these intervals relative to the
// prediction.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/analysis/validation/strategy_choices.hpp"
#include "sim/analysis/validation/suspect_rows.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/report/validation/validation_catalog.hpp"

namespace foretrain {

namespace {

/// Returns a line of error statistics in percent.
std::string statistics_line(std::string_view name, const ErrorStatistics& s) {
  return fmt::format("{:<16} median {:>5} %   p90 {:>5} %   mean {:>5} %   bias {:>6} %\n", name,
                     percent(s.median, 2), percent(s.p90, 2), percent(s.mean, 2), signed_percent(s.bias, 2));
}

/// Returns the block of a series. Columns: GPUs, measured and predicted value, error, 90 % interval.
std::string series_lines(const ValidatedSeries& s) {
  std::string out = fmt::format("\n{}\n", s.series);
  for (const ValidatedPoint& p : s.points) {
    out += fmt::format("{:>6} {:>12.4g} {:>12.4g} {:>8} %   [{:.4g}, {:.4g}]\n", p.gpus, p.measured,
                       p.predicted, signed_percent(p.predicted / p.measured - 1, 2), p.low, p.high);
  }
  return out;
}

/// Returns by which factor a prediction is off; half and double both count as 2.
double factor_off(const ValidatedPoint& p) {
  return std::max(p.predicted / p.measured, p.measured / p.predicted);
}

/// Returns the table of the worst rows.
std::string worst_lines(const Validation& validation, std::size_t count) {
  struct Row {
    const ValidatedSeries* series;
    const ValidatedPoint* point;
  };
  std::vector<Row> rows;
  for (const ValidatedSeries& series : validation.series) {
    for (const ValidatedPoint& point : series.points) rows.push_back({&series, &point});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return factor_off(*a.point) > factor_off(*b.point); });
  rows.resize(std::min(rows.size(), count));
  std::string out =
      fmt::format("\n{:>6} {:>12} {:>12} {:>10}   series\n", "GPUs", "measured", "predicted", "error");
  for (const auto& [series, p] : rows)
    out += fmt::format("{:>6} {:>12.4g} {:>12.4g} {:>8} %   {}\n", p->gpus, p->measured, p->predicted,
                       signed_percent(p->predicted / p->measured - 1, 2), series->series);
  return out;
}

/// Returns the skipped rows, counted by reason.
std::string skipped_lines(const std::vector<SkippedRow>& skipped) {
  std::map<std::string, int> reasons;
  for (const SkippedRow& row : skipped) ++reasons[row.why];
  std::string out = reasons.empty() ? "" : "\nSkipped\n";
  for (const auto& [why, rows] : reasons)
    out += fmt::format("{:>6} {}: {}\n", rows, plural(rows, "row"), why);
  return out;
}

/// Returns settings that rules, strategies and numbers of nodes imply, each with the place where the source
/// states it.
std::string inferred_setting_lines(const Validation& v) {
  if (v.inferred_settings.empty()) return "";
  const std::string told = v.provenance.empty() ? "" : v.provenance + " tells, and ";
  std::string out = fmt::format("\nRun with what {}strategies and nodes of rows mean\n", told);
  for (std::size_t i = 0; i < v.inferred_settings.size(); ++i) {
    const InferredSetting& setting = v.inferred_settings[i];
    out += fmt::format("{:>6} {}: {}\n", setting.rows, plural(setting.rows, "row"), setting.what);
    const bool goes_on =
        i + 1 < v.inferred_settings.size() && v.inferred_settings[i + 1].said_in == setting.said_in;
    if (!goes_on && !setting.said_in.empty()) out += fmt::format("{:>12} {}\n", "", setting.said_in);
  }
  return out;
}

/// Returns the number of rows that could not be scored.
std::int64_t unscored_rows(const std::vector<UnreachedAnchor>& anchors) {
  std::int64_t rows = 0;
  for (const UnreachedAnchor& anchor : anchors) rows += std::ssize(anchor.unscored);
  return rows;
}

/// Returns the line that counts unusable calibration rows.
std::string unreached_count(const std::vector<UnreachedAnchor>& anchors) {
  if (anchors.empty()) return "";
  return fmt::format("unreachable anchors: {}, {} not scored\n", counted(std::ssize(anchors), "group"),
                     counted(unscored_rows(anchors), "row"));
}

/// Returns the unusable calibration rows with their reasons.
std::string unreached_lines(const std::vector<UnreachedAnchor>& anchors) {
  std::string out = anchors.empty() ? "" : "\nUnreachable anchors\n";
  for (const UnreachedAnchor& anchor : anchors)
    out += fmt::format("{:>6} {} of {}: {}\n", anchor.unscored.size(),
                       plural(std::ssize(anchor.unscored), "row"), anchor.series, anchor.why);
  return out;
}

/// Returns the table of one list of keys. Columns: rows, median, 90th percentile and bias of errors, coverage
/// and width of 90 % intervals, group.
std::string group_lines(const Validation& validation, const GroupKeys& keys) {
  std::string out = fmt::format("\n{:>5} {:>9} {:>9} {:>9} {:>10} {:>8}   {}\n", "rows", "median", "p90",
                                "bias", "in 90 %", "width", fmt::join(keys, ", "));
  for (const ErrorGroup& group : group_errors(validation, keys)) {
    const std::string failed = group.failed > 0
                                   ? fmt::format(", and {} of unreachable anchors",
                                                 counted(static_cast<std::size_t>(group.failed), "row"))
                                   : "";
    out += fmt::format("{:>5} {:>7} % {:>7} % {:>7} % {:>8} % {:>6} %   {}{}\n", group.rows,
                       percent(group.error.median, 1), percent(group.error.p90, 1),
                       signed_percent(group.error.bias, 1), percent(group.coverage, 1),
                       percent(group.width, 0), fmt::join(group.values, ", "), failed);
  }
  return out;
}

/// Returns how often the strategy that was named first was the fastest, and how often ties were ties.
std::string choices_line(const StrategyChoices& c) {
  if (c.settings == 0) return "";
  return fmt::format(
      "strategies       {} of {} times the one named first was measured first or within 2 % of it; of {} "
      "said to be "
      "within 2 %\n                 {} were, and {} within 5 %; of {} said to be slower {} were\n",
      c.first_right, c.settings, c.tied, c.tied_right, c.tied_near, c.slower, c.slower_right);
}

/// Returns series whose measurements contradict others, so that their errors are not blamed on the model.
/// JSON has all.
std::string suspect_lines(const std::vector<SuspectSeries>& suspects) {
  constexpr std::size_t kMostLines = 12;
  std::string out = suspects.empty() ? "" : "\nSuspect measurements\n";
  for (std::size_t i = 0; i < std::min(suspects.size(), kMostLines); ++i)
    out += fmt::format("  {}: {}\n", suspects[i].series, suspects[i].why);
  if (suspects.size() > kMostLines)
    out += fmt::format("  {} more: --format json\n", suspects.size() - kMostLines);
  return out;
}

/// Returns the line of a series of collectives: errors over all sizes and from 4 MiB on, number of sizes.
std::string series_line(const ValidatedCollectiveSeries& s) {
  const bool has_large =
      std::ranges::any_of(s.points, [](const ValidatedCollective& p) { return p.bytes >= kLargeMessage; });
  return fmt::format("{:>6} % {:>6} % {:>6} % {:>6} %  {:>10} {:>5}  {}\n", percent(s.median, 1),
                     percent(s.p90, 1), percent(s.worst, 1), signed_percent(s.bias, 1),
                     has_large ? percent(s.large_median, 1) + " %" : "-", s.points.size(), s.series);
}

}  // namespace

// Perfect scaling is the baseline: a prediction that is not better than it is of no use.
std::string write_validation_table(const Validation& v, const ValidationTableOptions& options) {
  std::string out = fmt::format(
      "{}, {} scored, {} skipped; {}\n", counted(v.rows, "row"), v.scored, v.skipped.size(),
      v.anchored ? "anchored at the smallest number of GPUs of each series (that row is not scored)"
                 : "no anchor");
  out += statistics_line("predicted", v.error);
  if (v.anchored) out += statistics_line("perfect scaling", v.linear);
  if (v.scored > 0)
    out += fmt::format("90 % interval    holds {} % of the measured values\n", percent(v.coverage, 1));
  // Choices of strategies can only be scored when rows differ in nothing else.
  out += choices_line(strategy_choices(v));
  out += unreached_count(v.unreached);
  out += inferred_setting_lines(v);
  for (const GroupKeys& keys : options.groups) out += group_lines(v, keys);
  const std::string left_out =
      suspect_lines(suspect_series(v)) + unreached_lines(v.unreached) + skipped_lines(v.skipped);
  // --worst replaces the blocks of series, since they would be too long together.
  if (options.worst > 0) return out + worst_lines(v, static_cast<std::size_t>(options.worst)) + left_out;
  if (!v.series.empty())
    out += fmt::format("\n{:>6} {:>12} {:>12} {:>10}   {}\n", "GPUs", "measured", "predicted", "error",
                       "90 % interval");
  for (const ValidatedSeries& s : v.series) out += series_lines(s);
  return out + left_out;
}

// NCCL's own forecast is a second baseline for collectives.
std::string write_validation_table(const CollectiveValidation& v) {
  std::string out =
      fmt::format("{}, {} scored, {} skipped\n", counted(v.rows, "row"), v.scored, v.skipped.size());
  out += statistics_line("predicted", v.error);
  if (v.large_rows > 0) out += statistics_line("from 4 MiB on", v.large);
  if (v.nccl_rows > 0) out += statistics_line("NCCL's forecast", v.nccl_model);
  if (v.scored > 0)
    out += fmt::format("90 % interval    holds {} % of the measured values; median width {} %\n",
                       percent(v.coverage, 1), percent(v.width, 0));
  if (!v.series.empty())
    out += fmt::format("\n{:>8} {:>8} {:>8} {:>8}  {:>10} {:>5}  {}\n", "median", "p90", "worst", "bias",
                       "from 4 MiB", "rows", "series");
  for (const ValidatedCollectiveSeries& s : v.series) out += series_line(s);
  return out + suspect_lines(suspect_series(v)) + skipped_lines(v.skipped);
}

}  // namespace foretrain
