// Numbers of GPUs as people type them: 1,2,4 or 1-8 or 4-16:4.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// Of each text a number, a range with both ends (1-8), or one in steps (4-16:4), in the order given; a
/// number that comes twice stands once. Throws InputError: no number, a range backwards, more than
/// kMostGpuNumbers of them.
std::vector<int> gpu_numbers(const std::vector<std::string>& texts);

/// Each is a simulation.
inline constexpr int kMostGpuNumbers = 1000;

}  // namespace foretrain
