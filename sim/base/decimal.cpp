// The magnitude is formatted first; the sign is added only if some digit is not zero.
#include "sim/base/decimal.hpp"

#include <cmath>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Limit from which numbers have three significant digits instead of decimals.
constexpr double kMostInDigits = 1e9;

std::string digits_of(double magnitude, int decimals) {
  return magnitude < kMostInDigits ? fmt::format("{:.{}f}", magnitude, decimals)
                                   : fmt::format("{:.3g}", magnitude);
}

/// Returns whether the digits show the value zero.
bool is_zero(const std::string& digits) { return digits.find_first_not_of("0.") == std::string::npos; }

}  // namespace

std::string decimal(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  const std::string digits = digits_of(std::abs(value), decimals);
  return value < 0 && !is_zero(digits) ? "-" + digits : digits;
}

std::string signed_decimal(double value, int decimals) {
  const std::string text = decimal(value, decimals);
  return value > 0 && std::isfinite(value) && !is_zero(text) ? "+" + text : text;
}

std::string percent(double share, int decimals) { return decimal(100 * share, decimals); }
std::string signed_percent(double share, int decimals) { return signed_decimal(100 * share, decimals); }

// A minus is no digit, so no comma stands behind it.
std::string grouped_digits(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::ptrdiff_t first = number < 0 ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > first; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

}  // namespace foretrain
