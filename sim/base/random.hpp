// Counter-based random numbers: a value depends on (seed, stream, index) alone and never on the order of
// calls.
#pragma once

#include <cstdint>

namespace foretrain {

/// Random numbers by the SplitMix64 finalizer over the three words (Steele, Lea, Flood 2014). It has no state
/// but the seed, so calls are thread-safe and results are reproducible.
class CounterRandom {
 public:
  explicit CounterRandom(std::uint64_t seed) : seed_(seed) {}
  /// Returns 64 random bits.
  std::uint64_t bits(std::uint64_t stream, std::uint64_t index) const;
  /// Returns a number in [0, 1) with 53 random bits.
  double uniform(std::uint64_t stream, std::uint64_t index) const;
  /// Returns a standard normal number, by the inverse of the distribution function.
  double normal(std::uint64_t stream, std::uint64_t index) const;

 private:
  std::uint64_t seed_;
};

/// Returns the inverse of the standard normal distribution function for p in (0, 1). Acklam's rational
/// approximation, |relative error| < 1.2e-9.
double normal_quantile(double p);

/// Returns the expected maximum of n standard normal draws (Blom: quantile((n - 0.375) / (n + 0.25))); 0 for
/// n <= 1.
double expected_normal_maximum(int n);

}  // namespace foretrain
