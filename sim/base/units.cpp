// Conversions from amounts and rates to picoseconds. They saturate instead of overflowing.
#include "sim/base/units.hpp"

#include <cmath>
#include <limits>

namespace foretrain {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max(),
                       kLeast = std::numeric_limits<std::int64_t>::min();

}  // namespace

Bytes& Bytes::operator+=(Bytes other) {
  if (__builtin_add_overflow(count, other.count, &count)) count = other.count > 0 ? kMost : kLeast;
  return *this;
}

Bytes& Bytes::operator-=(Bytes other) {
  if (__builtin_sub_overflow(count, other.count, &count)) count = other.count < 0 ? kMost : kLeast;
  return *this;
}

Bytes operator*(Bytes a, std::int64_t times) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a.count, times, &product))
    product = (a.count < 0) == (times < 0) ? kMost : kLeast;
  return {product};
}

Time seconds(double value) {
  // The comparison also catches NaN.
  if (!(value > 0)) return Time::zero();
  const double picos = value * 1e12;
  if (picos >= static_cast<double>(kLongestTime.count())) return kLongestTime;
  return Time{std::llround(picos)};
}

Time operator/(Bytes data, ByteRate rate) {
  if (data.count <= 0) return Time::zero();
  return rate.per_second > 0 ? seconds(static_cast<double>(data.count) / rate.per_second) : kLongestTime;
}

Time operator/(Flops work, FlopRate rate) {
  if (!(work.count > 0)) return Time::zero();
  return rate.per_second > 0 ? seconds(work.count / rate.per_second) : kLongestTime;
}

}  // namespace foretrain
