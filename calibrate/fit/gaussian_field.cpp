// The normal equations of a Gaussian field; Student's t by weights that follow from the residuals, a few
// times over.
#include "calibrate/fit/gaussian_field.hpp"

#include <algorithm>

#include <Eigen/Dense>

namespace foretrain::fit {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Degrees of freedom of the scatter: heavy tails, as of runs that something disturbed.
constexpr double kFreedom = 4;
constexpr double kLeastTrust = 0.005;
constexpr int kRounds = 6;

double trust_in(double squared, double variance) {
  if (!(variance > 0)) return 1;
  return std::clamp((kFreedom + 1) / (kFreedom + squared / variance), kLeastTrust, 1.0);
}

class Kriging {
 public:
  explicit Kriging(const FieldProblem& p)
      : p_(p),
        n_(static_cast<Index>(p.values.size())),
        values_(Eigen::Map<const VectorXd>(p.values.data(), n_)),
        trust_(VectorXd::Ones(n_)) {
    std::size_t groups = 0;
    for (const std::size_t group : p.groups) groups = std::max(groups, group + 1);
    group_trust_.assign(groups, 1.0);
  }

  FieldAnswer answer() {
    for (int round = 0; round < kRounds; ++round) {
      solve();
      if (round + 1 < kRounds) trust_again();
    }
    const VectorXd across = across_of();
    const VectorXd weights = factor_.solve(across);
    FieldAnswer out;
    out.mean = weights.dot(values_);
    const bool shares = p_.own_group < group_trust_.size();
    const double own = p_.own + (shares ? bias_of(p_.own_group) : 0);
    out.variance = std::max(0.0, own - weights.dot(across));
    out.weights.assign(weights.data(), weights.data() + n_);
    for (Index i = 0; i < n_; ++i) out.trust.push_back(trust_[i] * group_trust_[group(i)]);
    return out;
  }

 private:
  std::size_t group(Index i) const { return p_.groups[static_cast<std::size_t>(i)]; }
  double noise(Index i) const { return p_.noise[static_cast<std::size_t>(i)]; }
  double bias_of(std::size_t group) const { return p_.bias / group_trust_[group]; }

  VectorXd across_of() const {
    VectorXd across = Eigen::Map<const VectorXd>(p_.across.data(), n_);
    for (Index i = 0; i < n_; ++i)
      if (group(i) == p_.own_group) across[i] += bias_of(group(i));
    return across;
  }

  void solve() {
    MatrixXd a = Eigen::Map<const MatrixXd>(p_.covariance.data(), n_, n_);
    for (Index i = 0; i < n_; ++i) {
      for (Index j = 0; j < n_; ++j)
        if (group(i) == group(j)) a(i, j) += bias_of(group(i));
      a(i, i) += noise(i) / trust_[i];
    }
    factor_.compute(a);
    alpha_ = factor_.solve(values_);
  }

  /// What each value's own scatter and each group's bias were found to be, over what they may be.
  void trust_again() {
    VectorXd of_group = VectorXd::Zero(static_cast<Index>(group_trust_.size()));
    for (Index i = 0; i < n_; ++i) {
      const double scatter = noise(i) / trust_[i] * alpha_[i];
      of_group[static_cast<Index>(group(i))] += alpha_[i];
      trust_[i] = trust_in(scatter * scatter, noise(i));
    }
    for (std::size_t g = 0; g < group_trust_.size(); ++g) {
      const double bias = bias_of(g) * of_group[static_cast<Index>(g)];
      group_trust_[g] = trust_in(bias * bias, p_.bias);
    }
  }

  const FieldProblem& p_;
  Index n_;
  VectorXd values_, trust_, alpha_;
  std::vector<double> group_trust_;
  Eigen::LDLT<MatrixXd> factor_;
};

}  // namespace

FieldAnswer krige(const FieldProblem& problem) {
  if (problem.values.empty()) return {0, problem.own, {}, {}};
  return Kriging(problem).answer();
}

}  // namespace foretrain::fit
