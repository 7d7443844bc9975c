// What a field is worth, in tables: rows predicted raw and corrected, and a user's first jobs.
#include <cmath>

#include <fmt/format.h>

#include "sim/base/decimal.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/evidence/evidence_report.hpp"

namespace foretrain {

std::string write_field_scores(const std::vector<FieldScore>& scores, FieldLeftOut left_out) {
  std::string out = fmt::format("{:>6}   {:^19}   {:^19}   {:>8} {:>7} {:>7}   {}\n", "", "as simulated",
                                "corrected", "in field", "spread", "within", "");
  out += fmt::format("{:>6}   {:>9} {:>9}   {:>9} {:>9}   {:>8} {:>7} {:>7}   {}\n", "rows", "median", "p90",
                     "median", "p90", "90 %", "left", "reach",
                     left_out == FieldLeftOut::source ? "source left out" : "cluster left out");
  for (const FieldScore& s : scores)
    out += fmt::format("{:>6}   {:>7} % {:>7} %   {:>7} % {:>7} %   {:>6} % {:>5} % {:>7}   {}\n", s.rows,
                       percent(s.raw.median, 2), percent(s.raw.p90, 1), percent(s.corrected.median, 2),
                       percent(s.corrected.p90, 1), percent(s.held, 1), percent(s.narrowing, 0), s.reached,
                       printable(s.name));
  return out;
}

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
