// Declares how windows of convolutions and pools are found by parameters and by sizes.
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

/// Finds window, groups and bias by the parameters: out * (in / groups * window^sides + bias). `made` has
/// channels, then sides. `grouped` asks for more than one group. Returns nothing where no window up to 15
/// fits.
std::optional<FoundWindow> window_of(std::int64_t in, const std::vector<std::int64_t>& made,
                                     std::int64_t parameters, bool grouped);
/// Finds stride and padding by the sides, and stores them in the window. Returns false where none gives these
/// sizes.
bool fit_sides(const std::vector<std::int64_t>& in, const std::vector<std::int64_t>& made,
               FoundWindow& window);
/// Returns the keys of a layer: "kernel = 3, stride = 1, padding = 1".
std::string window_keys(const FoundWindow& window);

}  // namespace foretrain
