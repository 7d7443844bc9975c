// Reads numbers of GPUs. Each text is FIRST[-LAST[:STEP]].
#include "sim/app/options/gpu_numbers.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

// Hint of every error message.
constexpr const char* kExample = "as in --gpus 1,2,4 or --gpus 1-8 or --gpus 4-16:4";

/// Returns the number that the digits spell. Throws InputError unless it is at least 1.
int positive(std::string_view digits, const std::string& text) {
  int value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem == std::errc{} && end == digits.data() + digits.size() && value >= 1) return value;
  throw InputError(fmt::format("--gpus: \"{}\" is no number of GPUs", text.substr(0, 40)), kExample);
}

// A range with both ends: first, first + step, … up to last.
struct GpuSteps {
  int first = 1, last = 1, step = 1;
};

/// Reads one text. A single number is a range of one.
GpuSteps steps_of(const std::string& text) {
  const std::string_view all = text;
  // The search begins behind the first character, so that "-4" is a wrong number and no range.
  const std::size_t dash = all.find('-', 1);
  if (dash == std::string_view::npos) {
    const int only = positive(all, text);
    return {only, only, 1};
  }
  const std::size_t colon = all.find(':', dash);
  GpuSteps steps{positive(all.substr(0, dash), text), positive(all.substr(dash + 1, colon - dash - 1), text),
                 1};
  if (colon != std::string_view::npos) steps.step = positive(all.substr(colon + 1), text);
  if (steps.last < steps.first)
    throw InputError(fmt::format("--gpus: \"{}\" runs backwards", text.substr(0, 40)), kExample);
  return steps;
}

}  // namespace

// The order is kept, as tables list numbers as they were requested.
std::vector<int> gpu_numbers(const std::vector<std::string>& texts) {
  std::vector<int> gpus;
  for (const std::string& text : texts) {
    const GpuSteps steps = steps_of(text);
    // The count is checked before the loop, so that a huge range costs nothing.
    const int more = (steps.last - steps.first) / steps.step + 1;
    if (more > kMostGpuNumbers - static_cast<int>(gpus.size()))
      throw InputError(
          fmt::format("--gpus: more than {} numbers, each of which is a simulation", kMostGpuNumbers),
          "a step makes them fewer, as in --gpus 8-1024:8");
    for (int i = 0; i < more; ++i) {
      const int number = steps.first + i * steps.step;
      if (std::ranges::find(gpus, number) == gpus.end()) gpus.push_back(number);
    }
  }
  return gpus;
}

}  // namespace foretrain
