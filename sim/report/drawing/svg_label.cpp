// Writes texts of drawings, and labels of sizes on a logarithmic axis.
#include "sim/report/drawing/svg_label.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace foretrain {

std::string svg_label(double x, double y, std::string_view anchor, std::string_view content,
                      std::string_view more) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     content);
}

// The label is right for powers below 60, which the last unit covers.
std::string size_label(int power) {
  // Each unit is 2^10 times the one before.
  static constexpr std::array<std::string_view, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  const auto unit = static_cast<std::size_t>(power / 10);
  return fmt::format("{} {}", 1 << (power % 10), kUnits[std::min<std::size_t>(unit, kUnits.size() - 1)]);
}

}  // namespace foretrain
