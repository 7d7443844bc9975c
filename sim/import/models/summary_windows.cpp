// Finds windows by trying them from small to large; the first one that fits is taken.
#include "sim/import/models/summary_windows.hpp"

#include <cmath>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Largest kernel of a convolution that is tried.
constexpr std::int64_t kLargestWindow = 15;

}  // namespace

/// A layer without groups is asked for apart from grouped ones, because several pairs of groups and kernel
/// may give the same number of parameters. 32 groups are those of ResNeXt.
std::optional<FoundWindow> window_of(std::int64_t in, const std::vector<std::int64_t>& made,
                                     std::int64_t parameters, bool grouped) {
  const auto sides = static_cast<double>(made.size() - 1);
  for (const bool bias : {true, false}) {
    for (const std::int64_t groups : {std::int64_t{1}, std::int64_t{2}, std::int64_t{32}, in}) {
      if (in % groups != 0 || made[0] % groups != 0 || grouped != (groups > 1)) continue;
      for (std::int64_t kernel = 1; kernel <= kLargestWindow; ++kernel) {
        const double weights =
            static_cast<double>(made[0] * (in / groups)) * std::pow(static_cast<double>(kernel), sides);
        if (weights + static_cast<double>(bias ? made[0] : 0) == static_cast<double>(parameters))
          return FoundWindow{kernel, 1, 0, groups, bias};
      }
    }
  }
  return std::nullopt;
}

/// Strides grow from 1. For each, the padding of half a window is tried first, then none, then the others.
bool fit_sides(const std::vector<std::int64_t>& in, const std::vector<std::int64_t>& made,
               FoundWindow& window) {
  for (std::int64_t stride = 1; stride <= 16; ++stride) {
    std::vector<std::int64_t> paddings{(window.kernel - 1) / 2, 0};
    for (std::int64_t padding = 1; padding < window.kernel; ++padding) paddings.push_back(padding);
    for (const std::int64_t padding : paddings) {
      bool fits = true;
      for (std::size_t side = 1; side < made.size(); ++side) {
        const std::int64_t room = in[side] + 2 * padding - window.kernel;
        fits = fits && room >= 0 && room / stride + 1 == made[side];
      }
      if (fits) return window.stride = stride, window.padding = padding, true;
    }
  }
  return false;
}

/// Windows of a summary are square, since a row has one number of parameters.
std::string window_keys(const FoundWindow& window) {
  return fmt::format("kernel = {}, stride = {}, padding = {}", window.kernel, window.stride, window.padding);
}

}  // namespace foretrain
