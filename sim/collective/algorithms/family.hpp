// The families of algorithms: what a collective does, whichever op it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace foretrain {

/// The algorithms that schedules can be built for, of all libraries. NCCL's choice is nccl::Algorithm, a
/// smaller set.
enum class AlgorithmFamily : std::uint8_t {
  ring,
  double_binary_tree,
  nvls,
  nvls_tree,
  hierarchical_ring,
  hierarchical_tree,
  hierarchical_copy,
  recursive_halving_doubling,
  recursive_doubling,
  recursive_halving,
  reduce_to_one,
  binomial,
  binary_tree,
  scatter_all_gather,
  reduce_scatter_gather,
  bruck,
  direct,
  pairwise,
  shift
};

/// "ring", … as people write them.
std::string_view name_of(AlgorithmFamily family);
std::optional<AlgorithmFamily> find_family(std::string_view name);

}  // namespace foretrain
