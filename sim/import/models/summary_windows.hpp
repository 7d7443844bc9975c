// Windows of convolutions and pools, found by parameters and by sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace foretrain {

/// Kernel, stride and padding that explain the shapes and parameters of a summary's row.
struct FoundWindow {
  std::int64_t kernel = 1, stride = 1, padding = 0, groups = 1;
  bool bias = true;
};

/// Window, groups and bias by the parameters: out (in / groups window^sides + bias). `made`: channels, then
/// sides.
std::optional<FoundWindow> window_of(std::int64_t in, const std::vector<std::int64_t>& made,
                                     std::int64_t parameters, bool grouped);
/// Stride and padding by the sides; half a window of padding before none. False where none give these sizes.
bool fit_sides(const std::vector<std::int64_t>& in, const std::vector<std::int64_t>& made,
               FoundWindow& window);
/// "kernel = 3, stride = 1, padding = 1".
std::string window_keys(const FoundWindow& window);

}  // namespace foretrain
