// Kriging over the nearest runs. What shares less than a hundredth of a run's variance with it is not within
// reach, so that far rows have no effect at all.
#include "sim/analysis/evidence/residual_field.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "calibrate/fit/gaussian_field.hpp"
#include "sim/analysis/evidence/likeness.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kMostNeighbours = 64;
constexpr double kReachOfRows = 0.01;

struct Candidate {
  const Observation* row = nullptr;
  double across = 0;
};

double bias_of(const Observation& question, const Observation& row, const Likeness& likeness) {
  const bool shares = !question.source.empty() && question.source == row.source;
  return shares ? likeness.bias * likeness.bias : 0;
}

double middle_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// One neighbour for a run and its repeats, which stand beside each other in [first, last).
Neighbour one_neighbour(std::vector<Candidate>::const_iterator first,
                        std::vector<Candidate>::const_iterator last) {
  std::vector<double> residuals;
  for (auto it = first; it != last; ++it) residuals.push_back(residual_of(*it->row));
  Neighbour out{*first->row, static_cast<int>(last - first), 0, 0, 1};
  out.row.measured = out.row.predicted * std::exp(middle_of(std::move(residuals)));
  return out;
}

/// By what both have in common, most first; then in an order of their own, whatever that of the store.
bool is_nearer(const Candidate& a, const Candidate& b) {
  return a.across != b.across ? a.across > b.across : comes_before(*a.row, *b.row);
}

std::vector<Neighbour> nearest_runs(std::vector<Candidate> candidates) {
  std::ranges::sort(candidates, is_nearer);
  std::vector<Neighbour> out;
  for (auto it = candidates.cbegin(); it != candidates.cend() && out.size() < kMostNeighbours;) {
    const auto end = std::find_if(it, candidates.cend(),
                                  [&](const Candidate& c) { return !is_same_run(*c.row, *it->row); });
    out.push_back(one_neighbour(it, end));
    it = end;
  }
  return out;
}

class Kriged {
 public:
  Kriged(const Observation& question, std::vector<Neighbour> near)
      : question_(question), likeness_(likeness_of(question.what)), near_(std::move(near)) {}

  Estimate estimate() {
    const double alone = likeness_.noise * likeness_.noise + likeness_.bias * likeness_.bias;
    Estimate out;
    const double own = covariance(question_, question_);
    out.spread = out.prior = std::sqrt(own + alone);
    if (near_.empty()) return out;
    const fit::FieldProblem problem = problem_of(own);
    const fit::FieldAnswer answer = fit::krige(problem);
    const bool is_own = problem.own_group != fit::FieldProblem::kNone;
    out.log_factor = answer.mean;
    out.spread = std::min(out.prior, std::sqrt(answer.variance + likeness_.noise * likeness_.noise +
                                               (is_own ? 0 : likeness_.bias * likeness_.bias)));
    for (std::size_t i = 0; i < near_.size(); ++i) {
      near_[i].weight = answer.weights[i], near_[i].trust = answer.trust[i];
      const double common = problem.across[i] + bias_of(question_, near_[i].row, likeness_);
      near_[i].distance = 1 - std::min(1.0, common / (own + (is_own ? likeness_.bias * likeness_.bias : 0)));
    }
    out.neighbours = std::move(near_);
    return out;
  }

 private:
  fit::FieldProblem problem_of(double own) const {
    fit::FieldProblem p;
    p.own = own, p.noise = likeness_.noise * likeness_.noise, p.bias = likeness_.bias * likeness_.bias;
    std::map<std::string, std::size_t> groups;
    for (const Neighbour& n : near_) {
      p.values.push_back(residual_of(n.row));
      p.across.push_back(covariance(question_, n.row));
      const std::size_t group = groups.try_emplace(n.row.source, groups.size()).first->second;
      p.groups.push_back(group);
      if (!question_.source.empty() && n.row.source == question_.source) p.own_group = group;
      for (const Neighbour& other : near_) p.covariance.push_back(covariance(n.row, other.row));
    }
    return p;
  }

  const Observation& question_;
  const Likeness& likeness_;
  std::vector<Neighbour> near_;
};

}  // namespace

Estimate ResidualField::at(const Observation& question, const std::string& without,
                           const std::string& without_cluster) const {
  const Likeness& likeness = likeness_of(question.what);
  const double reach = kReachOfRows * covariance(question, question);
  std::vector<Candidate> candidates;
  for (const Observation& row : rows_) {
    if (row.what != question.what) continue;
    if (!without.empty() && row.source == without) continue;
    if (!without_cluster.empty() && row.cluster == without_cluster) continue;
    const double across = covariance(question, row) + bias_of(question, row, likeness);
    if (across > reach) candidates.push_back({&row, across});
  }
  return Kriged(question, nearest_runs(std::move(candidates))).estimate();
}

double ResidualField::spread_after(const Observation& question) const {
  const Estimate now = at(question);
  std::vector<Observation> rows;
  for (const Neighbour& n : now.neighbours) rows.push_back(n.row);
  Observation run = question;
  run.predicted = 1, run.measured = std::exp(now.log_factor);  // as expected: only the spread counts
  rows.push_back(run);
  return ResidualField(std::move(rows)).at(question).spread;
}

}  // namespace foretrain
