// Conversions between quantities: amounts and rates to picoseconds, saturating instead of overflowing.
#include "sim/base/units.hpp"

#include <cmath>

namespace foretrain {

Time seconds(double value) {
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
