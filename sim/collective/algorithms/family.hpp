// The families of algorithms: a method of exchange that several operations can use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace foretrain {

/// The families for which schedules can be built, of all libraries. NCCL's own choice is nccl::Algorithm, a
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

/// Returns the name as users write it: "ring", …
std::string_view name_of(AlgorithmFamily family);
/// Returns the family of this name, or nothing.
std::optional<AlgorithmFamily> find_family(std::string_view name);

}  // namespace foretrain
