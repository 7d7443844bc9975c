// Names in the order of the enumeration.
#include "sim/collective/algorithms/family.hpp"

#include <algorithm>
#include <array>

namespace foretrain {

namespace {

constexpr std::array<std::string_view, 19> kFamilyNames{"ring",
                                                        "double_binary_tree",
                                                        "nvls",
                                                        "nvls_tree",
                                                        "hierarchical_ring",
                                                        "hierarchical_tree",
                                                        "hierarchical_copy",
                                                        "recursive_halving_doubling",
                                                        "recursive_doubling",
                                                        "recursive_halving",
                                                        "reduce_to_one",
                                                        "binomial",
                                                        "binary_tree",
                                                        "scatter_all_gather",
                                                        "reduce_scatter_gather",
                                                        "bruck",
                                                        "direct",
                                                        "pairwise",
                                                        "shift"};
static_assert(kFamilyNames.size() == static_cast<std::size_t>(AlgorithmFamily::shift) + 1);

}  // namespace

std::string_view name_of(AlgorithmFamily family) { return kFamilyNames[static_cast<std::size_t>(family)]; }

std::optional<AlgorithmFamily> find_family(std::string_view name) {
  const auto found = std::ranges::find(kFamilyNames, name);
  if (found == kFamilyNames.end()) return std::nullopt;
  return static_cast<AlgorithmFamily>(found - kFamilyNames.begin());
}

}  // namespace foretrain
