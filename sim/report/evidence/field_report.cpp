// Writes tables about the worth of a field: rows predicted raw and corrected, and the first jobs of a user.
//
// "Spread left" is the remaining uncertainty relative to the one without evidence. "Reach" counts the rows
// that the field corrects.
#include <cmath>

#include <fmt/format.h>

#include "sim/base/decimal.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/evidence/evidence_report.hpp"

namespace foretrain {

namespace {

// A group is named when the correction makes its median error worse by more than this share.
constexpr double kClearlyWorse = 0.003;

/// Returns the heading of the groups: what was held out.
std::string_view what_is_held_out(ResidualHoldOut left_out) {
  if (left_out == ResidualHoldOut::source) return "source left out";
  return left_out == ResidualHoldOut::cluster ? "cluster left out" : "series left out, by cluster";
}

/// Returns the groups whose median error grew, in percentage points.
std::string worse_groups(const std::vector<FieldScore>& scores) {
  std::string out;
  for (const FieldScore& s : scores)
    if (const double worse = s.corrected.median - s.raw.median; worse > kClearlyWorse)
      out += fmt::format("{}{} (+{})", out.empty() ? "" : ", ", printable(s.name), percent(worse, 1));
  return out.empty() ? "No group's median is worse for it by more than 0.3 points.\n"
                     : "Worse for it, in points of the median: " + out + "\n";
}

}  // namespace

// Columns: rows; median and 90th percentile of errors as simulated and corrected; share of rows inside the 90
// % interval; spread that is left; rows that the field corrects; group.
std::string write_field_scores(const std::vector<FieldScore>& scores, ResidualHoldOut left_out) {
  std::string out = fmt::format("{:>6}   {:^19}   {:^19}   {:>8} {:>7} {:>7}   {}\n", "", "as simulated",
                                "corrected", "in field", "spread", "within", "");
  out += fmt::format("{:>6}   {:>9} {:>9}   {:>9} {:>9}   {:>8} {:>7} {:>7}   {}\n", "rows", "median", "p90",
                     "median", "p90", "90 %", "left", "reach", what_is_held_out(left_out));
  for (const FieldScore& s : scores)
    out += fmt::format("{:>6}   {:>7} % {:>7} %   {:>7} % {:>7} %   {:>6} % {:>5} % {:>7}   {}\n", s.rows,
                       percent(s.raw.median, 2), percent(s.raw.p90, 1), percent(s.corrected.median, 2),
                       percent(s.corrected.p90, 1), percent(s.held, 1), percent(s.narrowing, 0), s.reached,
                       printable(s.name));
  return out + worse_groups(scores);
}

// Columns: known jobs; median and 90th percentile of errors of later jobs; half width of the 90 % interval;
// spread that is left; share of jobs inside the interval.
std::string write_learning(const Learning& learning, const std::string& cluster) {
  std::string out = fmt::format("Jobs of {} one by one, as its user's own\n", printable(cluster));
  out += fmt::format("{:>6} {:>9} {:>9} {:>14} {:>12} {:>12}\n", "jobs", "median", "p90", "90 % interval",
                     "spread left", "within 90 %");
  for (const LearningStep& s : learning.steps)
    out += fmt::format("{:>6} {:>7} % {:>7} % {:>11} % {:>10} % {:>10} %\n", s.jobs,
                       percent(s.error.median, 1), percent(s.error.p90, 1), "+" + percent(s.half_width, 0),
                       percent(s.narrowing, 0), percent(s.held, 0));
  return out;
}

}  // namespace foretrain
