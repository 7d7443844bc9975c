// Fuzz target: numbers of GPUs from any bytes; what is read without a mistake must be within the limits, and
// once.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "sim/app/options/gpu_numbers.hpp"
#include "sim/base/diagnostics.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> texts(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == ',')
      texts.emplace_back();
    else
      texts.back() += static_cast<char>(data[i]);
  }
  try {
    const std::vector<int> gpus = foretrain::gpu_numbers(texts);
    const std::set<int> distinct(gpus.begin(), gpus.end());
    if (gpus.empty() || static_cast<int>(gpus.size()) > foretrain::kMostGpuNumbers ||
        distinct.size() != gpus.size())
      std::abort();
    if (*distinct.begin() < 1) std::abort();
  } catch (const foretrain::InputError& error) {
    if (std::string(error.what()).empty()) std::abort();
  }
  return 0;
}
