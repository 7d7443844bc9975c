// Reads numbers of GPUs as users type them: 1,2,4 or 1-8 or 4-16:4.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// Returns the numbers in the order given; a repeated number stands once. Each text is a number, a range with
/// both ends (1-8), or a range with a step (4-16:4). Throws InputError for a text that is no number, for a
/// range that runs backwards, and for more than kMostGpuNumbers numbers.
std::vector<int> gpu_numbers(const std::vector<std::string>& texts);

/// Largest number of numbers, as each is simulated.
inline constexpr int kMostGpuNumbers = 1000;

}  // namespace foretrain
