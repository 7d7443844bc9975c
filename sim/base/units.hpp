// Physical quantities as thin types: time, bytes, FLOPs and their rates. They have only the operators that
// make sense in physics.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace foretrain {

/// Simulated time and durations in integer picoseconds, so that order and ties are exact.
using Time = std::chrono::duration<std::int64_t, std::pico>;

/// The longest duration that is made from floating point, about 11.5 days. Longer ones saturate.
inline constexpr Time kLongestTime{1'000'000'000'000'000'000};

/// The longest run that is predicted, in s: 100 million days. GPT-3 on one core takes a third of it; a longer
/// run is a mistake in the input.
inline constexpr double kLongestRun = 1e8 * 86400;

/// Returns a duration of `value` seconds, rounded to the nearest picosecond. NaN and negative values give
/// zero; huge ones give kLongestTime.
Time seconds(double value);
inline Time microseconds(double value) { return seconds(value * 1e-6); }
inline Time milliseconds(double value) { return seconds(value * 1e-3); }
inline double to_seconds(Time time) { return static_cast<double>(time.count()) * 1e-12; }
inline double to_microseconds(Time time) { return static_cast<double>(time.count()) * 1e-6; }

/// The clock's tick in s. Shorter differences of floating-point times are rounding errors.
inline constexpr double kShortestTime = 1e-12;

/// An amount of data in bytes. Sums, differences and products saturate at the limits of 64 bits.
struct Bytes {
  std::int64_t count = 0;
  friend auto operator<=>(const Bytes&, const Bytes&) = default;
  Bytes& operator+=(Bytes other);
  Bytes& operator-=(Bytes other);
  friend Bytes operator+(Bytes a, Bytes b) { return a += b; }
  friend Bytes operator-(Bytes a, Bytes b) { return a -= b; }
  friend Bytes operator*(Bytes a, std::int64_t times);
};

/// An amount of floating-point work. One multiply-add counts two.
struct Flops {
  double count = 0;
  friend auto operator<=>(const Flops&, const Flops&) = default;
  Flops& operator+=(Flops other) { return count += other.count, *this; }
  friend Flops operator+(Flops a, Flops b) { return a += b; }
  friend Flops operator*(Flops a, double times) { return {a.count * times}; }
};

/// A rate of data in bytes per second.
struct ByteRate {
  double per_second = 0;
  friend auto operator<=>(const ByteRate&, const ByteRate&) = default;
  friend ByteRate operator*(ByteRate a, double times) { return {a.per_second * times}; }
};

/// A rate of computing in FLOPs per second.
struct FlopRate {
  double per_second = 0;
  friend auto operator<=>(const FlopRate&, const FlopRate&) = default;
  friend FlopRate operator*(FlopRate a, double times) { return {a.per_second * times}; }
};

/// Returns the time to move `data` at `rate`; kLongestTime when the rate is zero and there is data.
Time operator/(Bytes data, ByteRate rate);
/// Returns the time to compute `work` at `rate`; kLongestTime when the rate is zero and there is work.
Time operator/(Flops work, FlopRate rate);

}  // namespace foretrain
