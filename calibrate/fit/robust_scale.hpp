// How far residuals scatter when some of them are outliers, and how sure an estimate from them is.
#pragma once

#include <span>
#include <vector>

namespace foretrain::fit {

/// Scatter of residuals r[i] = model's error, alike for all, plus a measurement's own, as far as that is
/// known.
struct RobustScale {
  double residuals =
      0;  ///< 1.4826 x median |r|, widened for the degrees of freedom that the fit took; at least 1e-3
  std::vector<double> deviations;  ///< of each residual
  double bend = 1;                 ///< residuals beyond so many deviations count little (soft-l1)
};

/// `spread`: known deviations of the measurements themselves, 0 where unknown; empty: none is known.
/// `freedom`: measurements less what the fit took; where less than two are left, 5 % is believed in part.
RobustScale robust_scale(std::span<const double> residuals, const std::vector<double>& spread,
                         double freedom);

/// By what the variance of a soft-l1 estimate differs from (J' D J)^-1, D the inverse squares of the
/// deviations: Huber, Robust Statistics (1981), section 7.6, sum of psi^2 over the squared mean of psi';
/// times the square of Student's 95 % quantile over the normal one.
double variance_of_estimate(const RobustScale& scale, std::span<const double> residuals, double freedom);

/// Median of the values, 0 for none; of an even number the mean of the middle two.
double median(std::vector<double> values);

}  // namespace foretrain::fit
