// Names of the patterns.
#include "sim/collective/nccl/graph.hpp"

#include <array>

namespace foretrain::nccl {

std::string_view name_of(Pattern pattern) {
  static constexpr std::array<std::string_view, 6> kNames{"balanced tree", "split tree", "tree",
                                                          "ring",          "NVLS",       "CollNet direct"};
  return kNames[static_cast<std::size_t>(pattern)];
}

}  // namespace foretrain::nccl
