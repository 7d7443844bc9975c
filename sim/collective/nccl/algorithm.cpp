// Names as NCCL prints and takes them.
#include "sim/collective/nccl/algorithm.hpp"

#include <algorithm>
#include <cctype>

namespace foretrain::nccl {

namespace {

constexpr std::array<std::string_view, 7> kAlgorithmNames{
    "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::string_view name_of(Algorithm algorithm) { return kAlgorithmNames[static_cast<std::size_t>(algorithm)]; }

std::optional<Algorithm> find_algorithm(std::string_view name) {
  if (same_letters(name, "CollNet")) return Algorithm::collnet_direct;
  for (const Algorithm algorithm : kAlgorithms) {
    if (same_letters(name, name_of(algorithm))) return algorithm;
  }
  return std::nullopt;
}

}  // namespace foretrain::nccl
