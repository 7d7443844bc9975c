// A first cluster file for a machine that no catalog has. It turns what the owner knows into a whole TOML
// text, in which every assumption is marked.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace foretrain {

/// GPUs of a node that NVLinks join: none, pairs of two, every pair directly, or all through NVSwitches.
enum class NvlinkLayout : std::uint8_t { none, pairs, all, through_switch };
inline constexpr std::array<std::string_view, 4> kNvlinkLayoutNames{"none", "pairs", "all", "switch"};

/// The answers from which `topology new` writes a cluster file.
struct NewCluster {
  /// Name of the catalog, or a file.
  std::string gpu;
  int gpus_per_node = 1, nodes = 1;
  /// A network link of the catalog, or a file; empty: none.
  std::string network;
  /// none: the layout of usual boards with this GPU.
  std::optional<NvlinkLayout> nvlink{};
};

/// Returns the file's text, which read_cluster() accepts. Throws InputError with every mistake in the
/// question.
std::string new_cluster_text(const NewCluster& wanted);

}  // namespace foretrain
