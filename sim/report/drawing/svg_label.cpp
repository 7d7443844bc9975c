// Writes texts of drawings, and labels of sizes on a logarithmic axis.
#include "sim/report/drawing/svg_label.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace foretrain {

std::string svg_label(double x, double y, std::string_view anchor, std::string_view content,
                      std::string_view more) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     content);
}

std::string size_label(int power) {
  // Each unit is 2^10 times the one before.
  static constexpr std::array<std::string_view, 7> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const int unit = std::min(power / 10, static_cast<int>(kUnits.size()) - 1);
  return fmt::format("{} {}", std::int64_t{1} << (power - 10 * unit), kUnits[static_cast<std::size_t>(unit)]);
}

}  // namespace foretrain
