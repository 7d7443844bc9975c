// Statistics of groups of rows. Intervals are those of machines without measurements, because held-out rows
// stand for such machines.
#include "sim/analysis/validation/held_out_scores.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace foretrain {

namespace {

using Rows = std::vector<const ScoredRow*>;

/// Returns a relative error from a logarithmic one.
double relative(double log_error) { return std::expm1(log_error); }

/// Returns the statistics of one of the three residuals, over all rows or the large ones.
ErrorStatistics errors(const Rows& rows, double ScoredRow::*residual, bool only_large) {
  std::vector<double> signed_errors;
  for (const ScoredRow* row : rows)
    if (!only_large || row->large) signed_errors.push_back(relative(row->*residual));
  return statistics_of(std::move(signed_errors));
}

/// Returns all scores of a group.
HeldOutScores scores_of(const Rows& rows) {
  HeldOutScores s;
  s.rows = static_cast<int>(rows.size());
  s.large_rows = static_cast<int>(std::ranges::count_if(rows, [](const ScoredRow* r) { return r->large; }));
  s.in_use = errors(rows, &ScoredRow::in_use, false);
  s.of_all = errors(rows, &ScoredRow::of_all, false);
  s.left_out = errors(rows, &ScoredRow::left_out, false);
  s.large_in_use = errors(rows, &ScoredRow::in_use, true);
  s.large_left_out = errors(rows, &ScoredRow::left_out, true);
  std::vector<double> linear, widths;
  int held = 0;
  for (const ScoredRow* row : rows) {
    if (row->linear) linear.push_back(relative(*row->linear));
    held += row->is_held() ? 1 : 0;
    widths.push_back(std::exp(row->reach.above) - std::exp(-row->reach.below));
  }
  s.linear = statistics_of(std::move(linear));
  s.coverage = rows.empty() ? 0 : held / static_cast<double>(rows.size());
  s.width = statistics_of(std::move(widths)).median;
  return s;
}

/// Returns the scores by group, worst first; `names_of_row` returns the groups that a row is in.
template <class Names>
std::vector<HeldOutGroup> groups_by(const std::vector<ScoredRow>& rows, const Names& names_of_row) {
  std::map<std::string, Rows> groups;
  for (const ScoredRow& row : rows)
    for (const std::string& name : names_of_row(row)) groups[name].push_back(&row);
  std::vector<HeldOutGroup> out;
  for (const auto& [name, members] : groups) out.push_back({name, scores_of(members)});
  std::ranges::stable_sort(out, std::ranges::greater{},
                           [](const HeldOutGroup& g) { return g.scores.left_out.median; });
  return out;
}

}  // namespace

void add_scores(const std::vector<ScoredRow>& rows, LeaveOneOut& out) {
  using Names = std::vector<std::string>;
  Rows all;
  for (const ScoredRow& row : rows) all.push_back(&row);
  out.all = scores_of(all);
  out.groups = groups_by(rows, [](const ScoredRow& row) { return Names{row.key}; });
  out.views = groups_by(rows, [](const ScoredRow& row) { return row.views; });
  out.classes = groups_by(rows, [](const ScoredRow& row) { return Names{row.kind}; });
}

}  // namespace foretrain
