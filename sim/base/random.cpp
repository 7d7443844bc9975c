// Counter-based random numbers and the normal quantile. The polynomial coefficients are Acklam's, by Horner's
// scheme.
#include "sim/base/random.hpp"

#include <cmath>

namespace foretrain {

namespace {

/// The SplitMix64 finalizer.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// Returns Acklam's approximation in the lower tail, p < 0.02425.
double tail_quantile(double p) {
  const double q = std::sqrt(-2 * std::log(p));
  return (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838) * q -
            2.549732539343734) *
               q +
           4.374664141464968) *
              q +
          2.938163982698783) /
         ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996) * q +
           3.754408661907416) *
              q +
          1);
}

/// Returns Acklam's approximation between the tails.
double central_quantile(double p) {
  const double q = p - 0.5, r = q * q;
  return (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
            1.383577518672690e+02) *
               r -
           3.066479806614716e+01) *
              r +
          2.506628277459239) *
         q /
         (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
            6.680131188771972e+01) *
               r -
           1.328068155288572e+01) *
              r +
          1);
}

}  // namespace

std::uint64_t CounterRandom::bits(std::uint64_t stream, std::uint64_t index) const {
  return mix(mix(seed_ ^ mix(stream)) + index * 0xD1B54A32D192ED03u);
}

double CounterRandom::uniform(std::uint64_t stream, std::uint64_t index) const {
  return static_cast<double>(bits(stream, index) >> 11) * 0x1p-53;
}

double CounterRandom::normal(std::uint64_t stream, std::uint64_t index) const {
  return normal_quantile((static_cast<double>(bits(stream, index) >> 12) + 0.5) * 0x1p-52);
}

double normal_quantile(double p) {
  // Limit between the tails and the centre, as in Acklam's approximation.
  constexpr double kTail = 0.02425;
  if (p < kTail) return tail_quantile(p);
  if (p > 1 - kTail) return -tail_quantile(1 - p);
  return central_quantile(p);
}

double expected_normal_maximum(int n) { return n <= 1 ? 0 : normal_quantile((n - 0.375) / (n + 0.25)); }

}  // namespace foretrain
