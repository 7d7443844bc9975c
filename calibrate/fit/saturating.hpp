// Bandwidth over size as it saturates, of copy engines and memory kernels: the peak and the size that reaches
// half of it.
#pragma once

#include <vector>

namespace foretrain::fit {

struct RatePoint {
  double bytes = 0, bytes_per_second = 0;
  double spread = 0;  ///< standard deviation of log(bytes_per_second); 0: unknown
};

/// rate(bytes) = peak x bytes / (bytes + half): the same as time = half / peak + bytes / peak (Hockney's
/// r_infinity and n_1/2, 1982).
struct Saturating {
  double peak = 0;                          ///< bytes per second
  double half = 0;                          ///< bytes
  double peak_spread = 0, half_spread = 0;  ///< standard deviations of the logarithms
  double spread = 0;                        ///< robust standard deviation of log(measured / fitted)
  int samples = 0;
  double at(double bytes) const { return peak * bytes / (bytes + half); }
};

/// Robust, in logarithms. A curve whose points show no bend gets a half size below its smallest point (or a
/// peak above its fastest) with a wide spread. Zero for no points. Requires positive finite numbers.
Saturating fit_saturating(const std::vector<RatePoint>& points);

}  // namespace foretrain::fit
