// Declares how a pasted text of many tools is cut into blocks: the tool of each block, and its lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// The tool that printed a block. `unknown`: no reader takes it.
enum class BlockKind : std::uint8_t {
  unknown,
  gpu_table,       ///< nvidia-smi
  gpu_list,        ///< nvidia-smi -L, nvlink -s
  gpu_query,       ///< nvidia-smi -q
  matrix,          ///< nvidia-smi topo -m
  peer_table,      ///< nvidia-smi topo -p2p
  rocm_topology,   ///< rocm-smi --showtopo
  pci_list,        ///< lspci
  processor_list,  ///< lscpu
  adapters,        ///< ibstat, ibstatus, ibv_devinfo
  slurm_records,   ///< scontrol show node, partition, topology
  slurm_table,     ///< sinfo
  network,         ///< ibnetdiscover, iblinkinfo
  nccl_log,        ///< NCCL_DEBUG=INFO
  printed_model,   ///< print(model)
  training_log,    ///< rates, losses, memory
  bench_log,       ///< nccl-tests
};

/// Returns the command that prints such blocks, such as "nvidia-smi topo -m".
std::string_view name_of(BlockKind kind);

/// The output of one command in a pasted text.
struct TextBlock {
  BlockKind kind = BlockKind::unknown;
  /// Lines of the text, from 1; a prompt is not among them.
  int first_line = 0, last_line = 0;
  /// Text behind the prompt, or of the heading above; empty: none.
  std::string command{};
  /// The command stood behind a prompt, so it was run.
  bool is_typed = false;
  /// Lines without colours and prompts.
  std::string text{};
  friend bool operator==(const TextBlock&, const TextBlock&) = default;
};

/// Blocks of a text, at most; what follows stays in the last one.
inline constexpr std::size_t kMostTextBlocks = 10'000;

/// Cuts a text into blocks. A block begins at a shell prompt ("$ ", "user@host:~$ ", ">>> "), at a heading
/// ("## lscpu", "=== lscpu ===", a fence of Markdown), and at a line that only one tool prints. Logs (NCCL's,
/// training) continue behind what stands between their lines: each kind is one block, at its first line, with
/// empty lines in place of the others. Every other line with a word in it is in exactly one block. Linear in
/// the text.
std::vector<TextBlock> text_blocks(std::string_view text);

/// Returns whether a line has a prompt, and sets `command` to what was typed; "" for a prompt alone.
bool prompted_command(std::string_view line, std::string& command);

}  // namespace foretrain
