// Unknowns are logarithms of the parameters; what is known before stands in the normal equations as one more
// row for each. Weights and their scale are renewed before every step, so the reweighting costs no iterations
// of its own; a Jacobian serves until the point has moved by more than a hundredth or two.
#include "calibrate/fit/least_squares.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "calibrate/fit/robust_scale.hpp"

namespace foretrain::fit {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMostIterations = 30;
constexpr double kDifference =
    5e-3;  ///< of a logarithm: far above rounded picoseconds, far below what curvature shows
constexpr double kReuse = 0.02;         ///< a Jacobian serves within this distance of where it was taken
constexpr double kLongestStep = 2;      ///< a factor of seven
constexpr double kSmallestStep = 1e-6;  ///< a step below it ends the search
constexpr double kSmallestGain =
    1e-4;  ///< so does one that promises less chi-square: a hundredth of a standard deviation
constexpr double kSettledScale = 0.01;  ///< together with a scale that changes by less
constexpr double kNothingKnown =
    30;  ///< standard deviation of a logarithm about which nobody knows anything; keeps matrices regular
constexpr double kWidestSpread = 10;  ///< that is ever stated
constexpr double kSensitive = 0.01;   ///< a measurement depends on a parameter
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double precision_before(const Parameter& parameter) {
  const double deviation = parameter.prior > 0 ? parameter.prior : kNothingKnown;
  return 1 / (deviation * deviation);
}

class Fitter {
 public:
  explicit Fitter(const Problem& problem)
      : problem_(problem),
        n_(static_cast<Eigen::Index>(problem.measured.size())),
        p_(static_cast<Eigen::Index>(problem.parameters.size())) {
    check();
    before_.resize(p_), precision_.resize(p_), least_.resize(p_), most_.resize(p_);
    for (Eigen::Index j = 0; j < p_; ++j) {
      const Parameter& parameter = problem.parameters[static_cast<std::size_t>(j)];
      before_[j] = std::log(parameter.start);
      precision_[j] = precision_before(parameter);
      least_[j] = parameter.least > 0 ? std::log(parameter.least) : -kInfinity;
      most_[j] = parameter.most > 0 ? std::log(parameter.most) : kInfinity;
    }
    x_ = clamped(before_);
    residuals_ = residuals_at(x_);
    assert(residuals_.allFinite() && "predictions at the start are positive and finite");
    jacobian_ = MatrixXd::Zero(n_, p_);
  }

  Fit run() {
    for (int i = 0; i < kMostIterations && !fit_.converged && p_ > 0 && n_ > 0; ++i, ++fit_.iterations)
      iterate();
    if (p_ > 0 && n_ > 0 && moved_ > 0) renew_jacobian();
    reweigh();
    conclude();
    return std::move(fit_);
  }

 private:
  void check() const {
    assert(problem_.spread.empty() || problem_.spread.size() == problem_.measured.size());
    for ([[maybe_unused]] const double value : problem_.measured) assert(value > 0 && std::isfinite(value));
    for ([[maybe_unused]] const Parameter& p : problem_.parameters) {
      assert(p.start > 0 && std::isfinite(p.start) && p.prior >= 0 && p.least >= 0 &&
             (p.most == 0 || p.most >= p.least));
    }
  }

  VectorXd clamped(const VectorXd& x) const { return x.cwiseMax(least_).cwiseMin(most_); }

  /// log(predicted / measured); not finite where a prediction is no positive number.
  VectorXd residuals_at(const VectorXd& x) const {
    std::vector<double> values(static_cast<std::size_t>(p_));
    for (Eigen::Index j = 0; j < p_; ++j) values[static_cast<std::size_t>(j)] = std::exp(x[j]);
    const std::vector<double> predicted = problem_.predict(values);
    assert(predicted.size() == problem_.measured.size());
    VectorXd out(n_);
    for (Eigen::Index i = 0; i < n_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      out[i] = predicted[k] > 0 ? std::log(predicted[k]) - std::log(problem_.measured[k]) : kInfinity;
    }
    return out;
  }

  /// By differences away from the nearer limit; where a prediction fails, as if it did not depend on the
  /// parameter.
  void renew_jacobian() {
    for (Eigen::Index j = 0; j < p_; ++j) {
      VectorXd beside = x_;
      const double step = x_[j] + kDifference <= most_[j] ? kDifference : -kDifference;
      beside[j] += step;
      const VectorXd residuals = residuals_at(beside);
      for (Eigen::Index i = 0; i < n_; ++i)
        jacobian_(i, j) = std::isfinite(residuals[i]) ? (residuals[i] - residuals_[i]) / step : 0;
    }
    moved_ = 0;
  }

  void reweigh() {
    const Unexplained rest = unexplained();
    RobustScale scale =
        robust_scale({rest.residuals.data(), static_cast<std::size_t>(n_)}, problem_.spread, rest.freedom);
    scale_change_ = std::abs(std::log(scale.residuals / std::max(scale_.residuals, 1e-12)));
    scale_ = std::move(scale);
    freedom_ = rest.freedom;
    weights_.resize(n_), inverse_variance_.resize(n_);
    for (Eigen::Index i = 0; i < n_; ++i) {
      const double deviation = scale_.deviations[static_cast<std::size_t>(i)];
      inverse_variance_[i] = 1 / (deviation * deviation);
      weights_[i] = 1 / std::hypot(1, residuals_[i] / (deviation * scale_.bend));
    }
    of_samples_ = jacobian_.transpose() * weights_.cwiseProduct(inverse_variance_).asDiagonal() * jacobian_;
  }

  struct Unexplained {
    VectorXd residuals;
    double freedom = 0;  ///< measurements less the constants that they can tell apart
  };

  /// What of the residuals no change of the constants would explain, be it allowed or not: that is noise, the
  /// rest is only not yet fitted.
  Unexplained unexplained() const {
    if (p_ == 0 || n_ == 0) return {residuals_, static_cast<double>(n_)};
    VectorXd roots = VectorXd::Ones(n_);
    if (weights_.size() == n_) roots = weights_.cwiseProduct(inverse_variance_).cwiseSqrt();
    Eigen::ColPivHouseholderQR<MatrixXd> qr;
    qr.setThreshold(1e-6);
    qr.compute(roots.asDiagonal() * jacobian_);
    return {residuals_ - jacobian_ * qr.solve(roots.cwiseProduct(residuals_)),
            static_cast<double>(n_ - qr.rank())};
  }

  /// Soft-l1 of residuals over their deviations, plus the squared distances from what was known before.
  double cost(const VectorXd& x, const VectorXd& residuals) const {
    double sum = (x - before_).cwiseAbs2().dot(precision_);
    const double bend = scale_.bend;
    for (Eigen::Index i = 0; i < n_; ++i) {
      const double z = residuals[i] / scale_.deviations[static_cast<std::size_t>(i)] / bend;
      sum += 2 * bend * bend * (std::hypot(1, z) - 1);
    }
    return sum;
  }

  VectorXd gradient() const {
    return jacobian_.transpose() * weights_.cwiseProduct(inverse_variance_).cwiseProduct(residuals_) +
           precision_.cwiseProduct(x_ - before_);
  }

  /// Whether a limit holds the parameter back against this slope of the cost.
  bool is_held(Eigen::Index j, double slope) const {
    return (x_[j] <= least_[j] && slope > 0) || (x_[j] >= most_[j] && slope < 0);
  }

  /// The damped Gauss-Newton step of the parameters that no limit holds back.
  VectorXd step_for(const VectorXd& slope, double damping) const {
    MatrixXd normal = of_samples_ + MatrixXd(precision_.asDiagonal());
    VectorXd right = -slope;
    normal.diagonal() *= 1 + damping;
    for (Eigen::Index j = 0; j < p_; ++j) {
      if (!is_held(j, slope[j])) continue;
      normal.row(j).setZero(), normal.col(j).setZero();
      normal(j, j) = 1, right[j] = 0;
    }
    return normal.ldlt().solve(right);
  }

  /// One accepted step, or the end of the search.
  void iterate() {
    if (fit_.iterations == 0 || moved_ > kReuse) renew_jacobian();
    reweigh();
    const double now = cost(x_, residuals_);
    const VectorXd slope = gradient();
    if (-slope.dot(clamped(x_ + step_for(slope, 0)) - x_) < kSmallestGain) return stop_or_refresh();
    for (; damping_ < 1e9; damping_ = std::max(damping_ * 8, 1e-3)) {
      const VectorXd next =
          clamped(x_ + step_for(slope, damping_).cwiseMax(-kLongestStep).cwiseMin(kLongestStep));
      const double length = (next - x_).cwiseAbs().maxCoeff();
      if (length < kSmallestStep) return stop_or_refresh();
      const VectorXd residuals = residuals_at(next);
      if (!residuals.allFinite() || cost(next, residuals) >= now) continue;
      x_ = next, residuals_ = residuals, moved_ += length, damping_ *= 0.1;
      return;
    }
    stop_or_refresh();
  }

  /// A step that is short, or that nothing gains by, ends the search when the scale has settled too and the
  /// Jacobian is of this place.
  void stop_or_refresh() {
    fit_.converged = moved_ == 0 && (scale_change_ < kSettledScale || damping_ >= 1e9);
    if (moved_ > 0) renew_jacobian();
    damping_ = std::min(damping_, 1e-3);
  }

  void conclude() {
    const double data_variance =
        variance_of_estimate(scale_, {residuals_.data(), static_cast<std::size_t>(n_)}, freedom_);
    // The information of the samples without the weights, which variance_of_estimate() accounts for.
    const MatrixXd samples =
        jacobian_.transpose() * inverse_variance_.asDiagonal() * jacobian_ / data_variance;
    const MatrixXd all = samples + MatrixXd(precision_.asDiagonal());
    const VectorXd variance = all.ldlt().solve(MatrixXd::Identity(p_, p_)).diagonal();
    const VectorXd slope = gradient();
    for (Eigen::Index j = 0; j < p_; ++j) {
      const Parameter& parameter = problem_.parameters[static_cast<std::size_t>(j)];
      FittedParameter fitted;
      fitted.value = value_of(j);
      fitted.spread = std::clamp(std::sqrt(std::max(variance[j], 0.0)), 0.0, kWidestSpread);
      for (Eigen::Index i = 0; i < n_; ++i) {
        if (std::abs(jacobian_(i, j)) > kSensitive)
          fitted.measurements.push_back(static_cast<std::size_t>(i));
      }
      fitted.samples = static_cast<int>(fitted.measurements.size());
      fitted.at_limit = is_held(j, slope[j]);
      fitted.by_prior =
          fitted.samples == 0 || (parameter.prior > 0 && 2 * variance[j] > parameter.prior * parameter.prior);
      fit_.parameters.push_back(fitted);
    }
    fit_.residuals.assign(residuals_.data(), residuals_.data() + n_);
    fit_.weights.assign(weights_.data(), weights_.data() + n_);
    fit_.scale = scale_.residuals;
    if (p_ == 0 || n_ == 0) fit_.converged = true;
  }

  /// A limit itself, not its logarithm's exponential.
  double value_of(Eigen::Index j) const {
    const Parameter& parameter = problem_.parameters[static_cast<std::size_t>(j)];
    if (x_[j] <= least_[j]) return parameter.least;
    if (x_[j] >= most_[j]) return parameter.most;
    return x_[j] == before_[j] ? parameter.start : std::exp(x_[j]);
  }

  const Problem& problem_;
  Eigen::Index n_, p_;
  VectorXd before_, precision_, least_, most_;  ///< of the parameters
  VectorXd x_, residuals_, weights_, inverse_variance_;
  MatrixXd jacobian_, of_samples_;
  RobustScale scale_;
  double scale_change_ = 0, freedom_ = 0, moved_ = 0, damping_ = 1e-3;
  Fit fit_;
};

}  // namespace

Fit fit(const Problem& problem) { return Fitter(problem).run(); }

}  // namespace foretrain::fit
