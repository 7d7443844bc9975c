// Gaussian-process regression (kriging) over the nearest runs. A run that shares less than a hundredth of the
// question's variance with it is out of reach, so that far rows have no effect at all.
//
// The residual of a measured run is log(measured / predicted). Residuals of similar runs are similar: same
// cluster, same network, same source. The covariance of two runs is a sum of terms, one for each set of
// properties that both share (residual_covariance.hpp).
//
// The estimate for a new run is the usual conditional mean and variance (Rasmussen and Williams, Gaussian
// Processes for Machine Learning, chapter 2). It uses at most 64 neighbours, so the solution costs O(64^3)
// whatever the size of the store.
#include "sim/analysis/evidence/residual_field.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "calibrate/fit/gaussian_field.hpp"
#include "sim/analysis/evidence/residual_covariance.hpp"
#include "sim/base/median.hpp"

namespace foretrain {

namespace {

/// Most runs behind an estimate.
constexpr std::size_t kMostNeighbours = 64;
/// Share of a run's own variance below which a row is out of reach.
constexpr double kReachOfRows = 0.01;

/// A row with its covariance to the question.
struct Candidate {
  const StoredRow* row = nullptr;
  double across = 0;
};

/// A run with the residuals of its repeats.
struct NearRun {
  /// The first of its repeats.
  const StoredRow* row = nullptr;
  std::vector<double> residuals;
};

/// Returns the additional covariance of two rows of one source.
double bias_of(const StoredRow& question, const StoredRow& row, const Covariance& likeness) {
  const TextId asking = question.text(RowText::source);
  return asking != 0 && asking == row.text(RowText::source) ? likeness.bias * likeness.bias : 0;
}

/// Returns the nearest runs, by descending covariance and then by the table's own order, so that the order of
/// a store has no effect. A heap orders only as many rows as are needed.
std::vector<NearRun> nearest_runs(const EvidenceTable& table, std::vector<Candidate> candidates) {
  const auto is_farther = [&table](const Candidate& a, const Candidate& b) {
    return a.across != b.across ? a.across < b.across : table.comes_before(*b.row, *a.row);
  };
  std::ranges::make_heap(candidates, is_farther);
  std::vector<NearRun> out;
  while (!candidates.empty()) {
    std::ranges::pop_heap(candidates, is_farther);
    const StoredRow& row = *candidates.back().row;
    candidates.pop_back();
    if (out.empty() || !is_same_run(row, *out.back().row)) {
      if (out.size() == kMostNeighbours) break;
      out.push_back({&row, {}});
    }
    out.back().residuals.push_back(residual_of(row));
  }
  return out;
}

/// Solves one question: conditional mean and variance of the Gaussian process, with sources as groups that
/// have a common bias.
class Kriged {
 public:
  Kriged(const EvidenceTable& table, const StoredRow& question, std::vector<NearRun> near)
      : table_(table),
        question_(question),
        likeness_(covariance_of(question.what)),
        near_(std::move(near)),
        own_(covariance(question, question)) {}

  Estimate estimate() {
    const double noise = noise_of(question_.what), bias = likeness_.bias * likeness_.bias;
    Estimate out;
    out.spread = out.prior = std::sqrt(own_ + noise + bias);
    if (near_.empty()) return out;
    const fit::FieldProblem problem = problem_of();
    const fit::FieldAnswer answer = fit::krige(problem);
    const bool is_own = problem.own_group != fit::FieldProblem::kNone;
    out.log_factor = answer.mean;
    // A question of another source has that source's unknown bias on top of noise and variance.
    out.spread = std::min(out.prior, std::sqrt(answer.variance + noise + (is_own ? 0 : bias)));
    for (std::size_t i = 0; i < near_.size(); ++i) {
      Neighbour& n = out.neighbours.emplace_back(neighbour(near_[i], problem.values[i]));
      n.weight = answer.weights[i], n.trust = answer.trust[i];
      const double common = problem.across[i] + bias_of(question_, *near_[i].row, likeness_);
      n.distance = 1 - std::min(1.0, common / (own_ + (is_own ? bias : 0)));
    }
    return out;
  }

 private:
  Neighbour neighbour(const NearRun& run, double residual) const {
    Neighbour out{table_.observation(*run.row), static_cast<int>(run.residuals.size()), 0, 0, 1};
    out.row.measured = out.row.predicted * std::exp(residual);
    return out;
  }

  /// Builds the matrices of the problem: covariance among runs, and of each run with the question.
  fit::FieldProblem problem_of() const {
    fit::FieldProblem p;
    p.own = own_, p.bias = likeness_.bias * likeness_.bias;
    const TextId asking = question_.text(RowText::source);
    std::map<TextId, std::size_t> groups;
    for (const NearRun& n : near_) {
      p.values.push_back(median(n.residuals)), p.noise.push_back(noise_of(n.row->what));
      p.across.push_back(covariance(question_, *n.row));
      const TextId source = n.row->text(RowText::source);
      const std::size_t group = groups.try_emplace(source, groups.size()).first->second;
      p.groups.push_back(group);
      if (asking != 0 && source == asking) p.own_group = group;
      for (const NearRun& other : near_) p.covariance.push_back(covariance(*n.row, *other.row));
    }
    return p;
  }

  const EvidenceTable& table_;
  const StoredRow& question_;
  const Covariance& likeness_;
  std::vector<NearRun> near_;
  double own_;
};

}  // namespace

/// An empty name excludes nothing.
bool ExcludedRows::names(const EvidenceTable& table, const StoredRow& row) const {
  const auto is = [&](RowText which, const std::string& text) {
    return !text.empty() && table.text(row, which) == text;
  };
  return is(RowText::source, source) || is(RowText::cluster, cluster) || is(RowText::run, run) ||
         (measured > 0 && row.measured == measured);
}

/// Collects the rows within reach, then solves for the nearest.
Estimate ResidualField::at(const Observation& asked, const ExcludedRows& without) const {
  const StoredRow question = table_.asked(asked);
  const Covariance& likeness = covariance_of(question.what);
  const double reach = kReachOfRows * covariance(question, question);
  std::vector<Candidate> candidates;
  for (const StoredRow& row : table_.rows()) {
    if (!informs(row.what, question.what)) continue;
    if (without.names(table_, row)) continue;
    const double across = covariance(question, row) + bias_of(question, row, likeness);
    if (across > reach) candidates.push_back({&row, across});
  }
  return Kriged(table_, question, nearest_runs(table_, std::move(candidates))).estimate();
}

/// The variance of a Gaussian process does not depend on the values, so each new run is taken as expected.
double ResidualField::spread_after(const Observation& question, const std::vector<Observation>& runs) const {
  std::vector<Observation> rows;
  for (Neighbour& n : at(question).neighbours) rows.push_back(std::move(n.row));
  for (Observation run : runs) {
    run.predicted = 1, run.measured = std::exp(at(run).log_factor);
    rows.push_back(std::move(run));
  }
  return ResidualField(rows).at(question).spread;
}

}  // namespace foretrain
