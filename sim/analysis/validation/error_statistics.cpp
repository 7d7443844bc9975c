// Four figures of a list of signed errors.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/analysis/validation/validation.hpp"
#include "sim/base/median.hpp"

namespace foretrain {

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
  s.median = median(errors);
  s.p90 = errors[static_cast<std::size_t>(std::ceil(0.9 * n)) - 1];
  return s;
}

}  // namespace foretrain
