// Four figures of a list of signed errors.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/analysis/validation/validation.hpp"

namespace foretrain {

namespace {

/// Returns the median of sorted values; of an even number the mean of the middle two.
double median_of(const std::vector<double>& sorted) {
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

}  // namespace

/// The bias uses signed errors; the other figures use absolute values. The ninth decile is a value of the
/// list.
ErrorStatistics statistics_of(std::vector<double> errors) {
  ErrorStatistics s;
  if (errors.empty()) return s;
  const auto n = static_cast<double>(errors.size());
  s.bias = std::accumulate(errors.begin(), errors.end(), 0.0) / n;
  for (double& e : errors) e = std::abs(e);
  std::sort(errors.begin(), errors.end());
  s.mean = std::accumulate(errors.begin(), errors.end(), 0.0) / n;
  s.median = median_of(errors);
  s.p90 = errors[static_cast<std::size_t>(std::ceil(0.9 * n)) - 1];
  return s;
}

}  // namespace foretrain
