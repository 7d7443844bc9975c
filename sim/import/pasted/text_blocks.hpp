// A text of many tools, as people paste it, cut into blocks: what each block is, and the lines it has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// What printed a block. `unknown`: no reader takes it.
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

/// "nvidia-smi topo -m", as people call it.
std::string_view name_of(BlockKind kind);

/// The output of one command in a pasted text.
struct TextBlock {
  BlockKind kind = BlockKind::unknown;
  int first_line = 0, last_line = 0;  ///< of the text, 1-based; a prompt is not among them
  std::string command{};              ///< behind the prompt or in the heading above; empty: none
  bool is_typed = false;              ///< the command stood behind a prompt, so that it is one
  std::string text{};                 ///< its lines, without colours and prompts
  friend bool operator==(const TextBlock&, const TextBlock&) = default;
};

/// More than so many blocks are not cut: what follows stays in the last.
inline constexpr std::size_t kMostTextBlocks = 10'000;

/// Shell prompts ("$ ", "user@host:~$ ", ">>> "), headings ("## lscpu", "=== lscpu ===", fences of Markdown)
/// and lines that only one tool prints begin a block. Blocks of logs (NCCL's, training) go on behind what
/// stands between their lines: each kind is one block, at its first line, with empty lines for the others'.
/// Every other line with a word in it is in exactly one block. Linear in the text.
std::vector<TextBlock> text_blocks(std::string_view text);

/// What a shell was told in this line; "" for a prompt alone. False where the line has no prompt.
bool prompted_command(std::string_view line, std::string& command);

}  // namespace foretrain
