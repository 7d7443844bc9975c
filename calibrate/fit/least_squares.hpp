// Fits positive constants of any model to positive measurements: robust, bounded, with what was known before,
// and how sure it is.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace foretrain::fit {

/// A constant to be fitted, in any unit; fitted as its logarithm, so it stays positive.
struct Parameter {
  std::string name;
  double start = 1;            ///< the default: also the centre of the prior
  double least = 0, most = 0;  ///< what physics allows; most = 0: no limit
  double prior = 0;            ///< standard deviation of the logarithm around `start`; 0: nothing is known
};

struct Problem {
  std::vector<Parameter> parameters;
  std::vector<double> measured;  ///< positive
  /// Standard deviation of each measurement's logarithm, as far as it is known; empty: all alike
  std::vector<double> spread;
  /// Predicted values for values of the parameters, one for each measurement; positive.
  std::function<std::vector<double>(const std::vector<double>& values)> predict;
};

struct FittedParameter {
  double value = 0;
  double spread = 0;  ///< standard deviation of its logarithm; value x exp(±1.645 spread) is a 90 % interval
  int samples = 0;    ///< measurements that change by more than a hundredth of its own relative change
  std::vector<std::size_t> measurements{};  ///< which those are
  bool at_limit = false;                    ///< physics, not the samples, set it
  bool by_prior = false;                    ///< the samples say less about it than was known before
};

struct Fit {
  std::vector<FittedParameter> parameters;
  std::vector<double> residuals;  ///< log(predicted / measured)
  std::vector<double> weights;    ///< in [0, 1]: how far each measurement was believed
  double scale = 0;               ///< robust standard deviation of the residuals
  int iterations = 0;
  bool converged = false;
};

/// Levenberg-Marquardt over logarithms of the parameters, with derivatives by differences; iteratively
/// reweighted (soft-l1), so that outliers count little. Spreads from the curvature at the end times the
/// residuals' scale. Requires finite positive numbers.
Fit fit(const Problem& problem);

}  // namespace foretrain::fit
