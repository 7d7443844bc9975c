// Shares are taken of what is left, not of the whole: a family that ends early leaves its time to those after
// it.
#include "calibrate/micro/plan/budget.hpp"

#include <algorithm>
#include <charconv>

namespace foretrain::micro {

double TimeBudget::left() const { return std::max(0.0, end_ - now_()); }

double TimeBudget::share(double weight, double weights_to_come) const {
  return weights_to_come > 0 ? left() * std::min(1.0, weight / weights_to_come) : 0;
}

std::optional<double> parse_budget(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  const char unit = text.back();
  const double scale = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size() - 1, number);
  const bool is_number = problem == std::errc{} && end == text.data() + text.size() - 1;
  constexpr double kLongest = 7 * 24 * 3600.0;
  if (!is_number || !(number * scale > 0) || number * scale > kLongest) return std::nullopt;
  return number * scale;
}

}  // namespace foretrain::micro
