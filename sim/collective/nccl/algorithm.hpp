// The algorithms that NCCL chooses from, in the order of its own tables.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace foretrain::nccl {

/// The algorithms that NCCL chooses from, in NCCL's own order, which breaks ties.
enum class Algorithm : std::uint8_t { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
inline constexpr std::array<Algorithm, 7> kAlgorithms{Algorithm::tree,
                                                      Algorithm::ring,
                                                      Algorithm::collnet_direct,
                                                      Algorithm::collnet_chain,
                                                      Algorithm::nvls,
                                                      Algorithm::nvls_tree,
                                                      Algorithm::pat};

/// Returns the name that NCCL_ALGO takes: "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree"
/// or "PAT".
std::string_view name_of(Algorithm algorithm);
/// Returns the algorithm of this name in any case. "CollNet" is the name of CollNetDirect in NCCL 2.5 to
/// 2.13.
std::optional<Algorithm> find_algorithm(std::string_view name);

/// Returns NCCL's log2i, the depth of a tree of that many nodes; 0 for less than two.
inline int floor_log2(int value) { return value > 1 ? std::bit_width(static_cast<unsigned>(value)) - 1 : 0; }

}  // namespace foretrain::nccl
