// Counter-based random numbers: the value depends on (seed, stream, index) alone, never on the order of
// calls.
#pragma once

#include <cstdint>

namespace foretrain {

/// Philox-free and small: two rounds of the SplitMix64 finalizer over the three words (Steele, Lea, Flood
/// 2014).
class CounterRandom {
 public:
  explicit CounterRandom(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t bits(std::uint64_t stream, std::uint64_t index) const;
  /// In [0, 1), 53 bits.
  double uniform(std::uint64_t stream, std::uint64_t index) const;
  /// Standard normal by the inverse of the distribution function.
  double normal(std::uint64_t stream, std::uint64_t index) const;

 private:
  std::uint64_t seed_;
};

/// Inverse of the standard normal distribution function for p in (0, 1) (Acklam's rational approximation,
/// |relative error| < 1.2e-9).
double normal_quantile(double p);

/// Expected maximum of n standard normal draws (Blom: quantile((n - 0.375) / (n + 0.25))); 0 for n <= 1.
double expected_normal_maximum(int n);

}  // namespace foretrain
