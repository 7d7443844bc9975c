// A time is rounded in the smallest unit that is printed. Therefore 59.6 minutes give one hour and not 60
// min.
#include "sim/base/spoken.hpp"

#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Returns two digits for values below ten, and whole numbers from there on.
std::string two_digits(double value) {
  const double tenths = std::round(value * 10) / 10;
  if (tenths >= 10) return fmt::format("{:.0f}", value);
  return fmt::format("{:g}", value < 1 ? std::round(value * 100) / 100 : tenths);
}

/// A unit that stands alone, for times below a limit in s.
struct SimpleUnit {
  /// The unit is used for times below this, in s.
  double below;
  /// Length of the unit in s.
  double seconds;
  std::string_view name;
};
constexpr std::array<SimpleUnit, 3> kSimple{{{999.5e-6, 1e-6, "us"}, {0.9995, 1e-3, "ms"}, {89.5, 1, "s"}}};

/// Returns an amount in two units ("4 h 10 min"); without the small unit if nothing of it is left.
std::string two_units(double in_small, long long small_per_large, std::string_view large,
                      std::string_view small) {
  const long long all = std::llround(in_small);
  const long long rest = all % small_per_large;
  const std::string whole = fmt::format("{} {}", all / small_per_large, large);
  return rest == 0 ? whole : fmt::format("{} {} {}", whole, rest, small);
}

/// Lengths in s.
constexpr double kMinute = 60, kHour = 3600, kDay = 86400;

}  // namespace

std::string spoken_duration(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds <= 0) return "0 s";
  for (const SimpleUnit& unit : kSimple)
    if (seconds < unit.below) return fmt::format("{} {}", two_digits(seconds / unit.seconds), unit.name);
  if (seconds < 10 * kMinute) return two_units(seconds, 60, "min", "s");
  if (seconds < 90 * kMinute) return fmt::format("{:.0f} min", seconds / kMinute);
  // Minutes are rounded to multiples of five.
  if (seconds < 9.5 * kHour) return two_units(std::round(seconds / 300) * 5, 60, "h", "min");
  if (seconds < 47.5 * kHour) return fmt::format("{:.0f} h", seconds / kHour);
  if (seconds < 9.5 * kDay) return two_units(seconds / kHour, 24, "d", "h");
  return fmt::format("{:.0f} days", std::min(seconds / kDay, 1e15));
}

std::string spoken_range(double low_s, double high_s) {
  const std::string low = spoken_duration(low_s), high = spoken_duration(high_s);
  const std::size_t end = low.find(' ');
  // True when both texts have one unit, and the same one.
  const bool has_one_unit = end != std::string::npos && low.find(' ', end + 1) == std::string::npos &&
                            high.find(' ') == high.rfind(' ') && high.ends_with(low.substr(end));
  return fmt::format("{} to {}", has_one_unit ? low.substr(0, end) : low, high);
}

std::string spoken_factor(double factor) {
  if (!std::isfinite(factor)) return "-";
  if (factor == 1) return "1";
  if (factor < 1.1) return fmt::format("{:.2f}", factor);
  return factor < 9.95 ? fmt::format("{:.1f}", factor) : fmt::format("{:.0f}", std::min(factor, 1e15));
}

std::string spoken_count(double count) {
  if (count >= 999.5e6) return fmt::format("{:.3g} B", std::min(count / 1e9, 999e9));
  if (count >= 1e6) return fmt::format("{:.3g} M", count / 1e6);
  const long long whole = std::llround(count);
  return whole < 1000 ? fmt::format("{}", whole) : fmt::format("{},{:03}", whole / 1000, whole % 1000);
}

std::string spoken_chance(double probability) {
  if (probability > 0.99) return "more than 99 %";
  return probability < 0.01 ? "less than 1 %" : fmt::format("{:.0f} %", 100 * probability);
}

std::string capitalized(std::string text) {
  if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

}  // namespace foretrain
