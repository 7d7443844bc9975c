// A first cluster file for a machine that no catalog has: from what its owner knows to a whole TOML text, in
// which every assumption is marked.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace foretrain {

/// Which GPUs of a node NVLinks join: none, two and two, every pair directly, or all through NVSwitches.
enum class NvlinkLayout : std::uint8_t { none, pairs, all, through_switch };
inline constexpr std::array<std::string_view, 4> kNvlinkLayoutNames{"none", "pairs", "all", "switch"};

/// The answers from which `topology new` writes a cluster file.
struct NewCluster {
  std::string gpu;  ///< of the catalog, or a file
  int gpus_per_node = 1, nodes = 1;
  std::string network;                   ///< a network link of the catalog, or a file; empty: none
  std::optional<NvlinkLayout> nvlink{};  ///< none: what boards with this GPU have
};

/// Throws InputError with every mistake in the question.
std::string new_cluster_text(const NewCluster& wanted);

}  // namespace foretrain
