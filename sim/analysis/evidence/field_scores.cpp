// Cross-validation of a field: each row is a question to the field without the row's own source, machine or
// series.
#include "sim/analysis/evidence/field_scores.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "sim/analysis/evidence/applied.hpp"
#include "sim/analysis/evidence/same_runs.hpp"
#include "sim/analysis/validation/collective_validation.hpp"

namespace foretrain {

namespace {

/// The result of one question.
struct ScoredQuestion {
  /// log(measured / predicted), as simulated and corrected.
  double raw = 0, corrected = 0;
  double spread = 0, narrowing = 1;
  bool reached = false;
  /// True if runs of the very training corrected it.
  bool is_same = false;
};

/// Returns the statistics of a group of questions.
FieldScore summary_of_rows(const std::string& name, const std::vector<ScoredQuestion>& rows) {
  FieldScore out;
  out.name = name, out.rows = static_cast<int>(rows.size());
  std::vector<double> raw, corrected, narrowing;
  int held = 0;
  for (const ScoredQuestion& row : rows) {
    raw.push_back(std::expm1(row.raw)), corrected.push_back(std::expm1(row.corrected));
    narrowing.push_back(row.narrowing);
    held += std::abs(row.corrected) <= kStudentReach * row.spread ? 1 : 0;
    out.reached += row.reached ? 1 : 0;
  }
  out.raw = statistics_of(raw), out.corrected = statistics_of(corrected);
  out.held = rows.empty() ? 0 : held / static_cast<double>(rows.size());
  out.narrowing = statistics_of(narrowing).median;
  return out;
}

/// Returns the rows that the question must be asked without.
ExcludedRows unknown_to(const Observation& row, ResidualHoldOut left_out) {
  switch (left_out) {
    case ResidualHoldOut::source:
      return {.source = row.source};
    case ResidualHoldOut::cluster:
      return {.cluster = row.cluster};
    case ResidualHoldOut::series:
      break;
  }
  return {.run = row.run, .measured = row.measured};
}

ScoredQuestion scored_by(const Observation& row, const Estimate& e, bool applies) {
  const double residual = residual_of(row);
  return {residual, applies ? residual - e.log_factor : residual, applies ? e.spread : e.prior,
          applies ? e.narrowing() : 1, applies};
}

/// Corrects a row as a prediction is corrected: by runs of the very training, or else by runs that resemble
/// it.
ScoredQuestion scored(const Observation& row, const Observation& question, const ResidualField& field,
                      const ExcludedRows& without = {}) {
  if (question.what != Observed::collective) {
    const Estimate same = estimate_by_same_runs(field, question, without);
    if (may_calibrate(same, question)) {
      ScoredQuestion out = scored_by(row, same, true);
      out.is_same = true;
      return out;
    }
  }
  const Estimate like = field.at(question, without);
  return scored_by(row, like, is_worth_applying(like, question));
}

ScoredQuestion score_question(const ResidualField& field, const Observation& row, ResidualHoldOut left_out) {
  Observation question = row;
  if (left_out == ResidualHoldOut::source) question.source.clear();
  return scored(row, question, field, unknown_to(row, left_out));
}

/// Random orders of the jobs, and the seed of the first.
constexpr int kOrders = 10;
constexpr std::uint64_t kOrderSeed = 24;

/// Returns the runs in a random order that depends on `order`; a Fisher-Yates shuffle.
std::vector<Observation> in_another_order(std::vector<Observation> runs, int order) {
  std::mt19937_64 random(kOrderSeed + static_cast<std::uint64_t>(order));
  for (std::size_t i = runs.size(); i > 1; --i) std::swap(runs[i - 1], runs[random() % i]);
  return runs;
}

/// The rows that a machine's user knows before the first job, and the jobs.
struct User {
  std::vector<Observation> others, jobs;
};

/// Removes the publications of the machine's own rows, and makes these rows the user's jobs.
User user_of(const ResidualField& field, const std::string& cluster) {
  User user;
  std::set<std::string> sources;
  const std::vector<Observation> rows = field.rows();
  for (const Observation& row : rows)
    if (row.what == Observed::step && row.cluster == cluster) sources.insert(row.source);
  for (const Observation& row : rows) {
    if (row.what != Observed::step) continue;
    const bool is_job = row.cluster == cluster;
    if (!is_job && sources.contains(row.source)) continue;
    (is_job ? user.jobs : user.others).push_back(row);
    if (is_job) user.jobs.back().source = "own";
  }
  return user;
}

/// Returns the field with the first `known` jobs.
ResidualField known_to(const User& user, const std::vector<Observation>& order, std::size_t known) {
  std::vector<Observation> rows = user.others;
  rows.insert(rows.end(), order.begin(), order.begin() + static_cast<std::ptrdiff_t>(known));
  return ResidualField(rows);
}

/// Scores the jobs after the first `known`.
void score_rest(const User& user, const std::vector<Observation>& order, std::size_t known,
                std::vector<ScoredQuestion>& out) {
  const ResidualField field = known_to(user, order, known);
  for (std::size_t i = known; i < order.size(); ++i) out.push_back(scored(order[i], order[i], field));
}

/// Returns the mean over all orders after `known` jobs.
LearningStep learned_after(const User& user, int known) {
  std::vector<ScoredQuestion> rest;
  for (int order = 0; order < kOrders; ++order)
    score_rest(user, in_another_order(user.jobs, order), static_cast<std::size_t>(known), rest);
  std::vector<double> widths;
  for (const ScoredQuestion& one : rest) widths.push_back(std::expm1(kStudentReach * one.spread));
  const FieldScore score = summary_of_rows("", rest);
  return {known, score.corrected, statistics_of(std::move(widths)).median, score.narrowing, score.held};
}

LearnedRun learned_job(const User& user, const std::vector<Observation>& order, std::size_t job) {
  const ScoredQuestion one = scored(order[job], order[job], known_to(user, order, job));
  return {one.raw, one.raw - one.corrected, kStudentReach * one.spread};
}

}  // namespace

Learning learn_machine(const ResidualField& field, const std::string& cluster,
                       const std::vector<int>& known) {
  const User user = user_of(field, cluster);
  Learning out;
  for (const int jobs : known)
    if (static_cast<std::size_t>(jobs) < user.jobs.size()) out.steps.push_back(learned_after(user, jobs));
  const std::vector<Observation> order = in_another_order(user.jobs, 0);
  const auto shown = static_cast<std::size_t>(known.empty() ? 0 : known.back());
  for (std::size_t i = 0; i < std::min(order.size(), shown); ++i)
    out.jobs.push_back(learned_job(user, order, i));
  return out;
}

std::vector<FieldScore> score_field(const ResidualField& field, Observed what, ResidualHoldOut left_out) {
  std::vector<ScoredQuestion> all, same, large, small;
  std::map<std::string, std::vector<ScoredQuestion>> groups;
  for (const Observation& row : field.rows()) {
    if (row.what != what) continue;
    const ScoredQuestion one = score_question(field, row, left_out);
    all.push_back(one);
    if (one.is_same) same.push_back(one);
    groups[left_out == ResidualHoldOut::source ? row.source : row.cluster].push_back(one);
    if (what == Observed::collective) (row.size < kLargeMessage ? small : large).push_back(one);
  }
  std::vector<FieldScore> out;
  for (const auto& [name, rows] : groups) out.push_back(summary_of_rows(name, rows));
  std::ranges::stable_sort(out, std::ranges::greater{}, &FieldScore::rows);
  if (what == Observed::collective)
    out.insert(out.begin(), {summary_of_rows("from 4 MiB on", large), summary_of_rows("below 4 MiB", small)});
  if (!same.empty()) out.insert(out.begin(), summary_of_rows("with runs of the very training", same));
  out.insert(out.begin(), summary_of_rows("all", all));
  return out;
}

}  // namespace foretrain
