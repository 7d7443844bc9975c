// Declares the reading of a pasted text of many tools: the machine of its blocks, contradictions, and what no
// reader takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"
#include "sim/import/pasted/text_blocks.hpp"

namespace foretrain {

/// One block and what its reader found, in one line.
struct BlockFinding {
  BlockKind kind = BlockKind::unknown;
  int first_line = 0, last_line = 0;
  /// Command that a prompt shows; empty: none.
  std::string command;
  /// Finding in words; empty: no reader takes the block.
  std::string what;
};

/// The result of a pasted text: machines, warnings, and parts for other commands.
struct PastedText {
  /// Findings in the order of lines.
  std::vector<BlockFinding> findings;
  /// Machines, one for each block that tells of one.
  std::vector<Machine> machines;
  /// Blocks that contradict each other.
  std::vector<MachineWarning> doubts;
  /// Notes on what other commands do with the rest, and on text that no reader takes.
  std::vector<std::string> notes;
};

/// Blocks of machines that are read, at most; output that is printed again and again tells nothing new.
inline constexpr std::size_t kMostMachineBlocks = 200;

/// Returns whether at least `least_tools` tools printed the text.
bool is_pasted_text(std::string_view text, std::size_t least_tools = 2);

/// Returns what a pasted text holds. Nothing where it is of fewer tools: the reader of a single tool takes
/// such a text whole. Throws InputError with the mistakes of all blocks, each with its line in the text.
std::optional<PastedText> read_pasted_text(const SourceText& source, std::size_t least_tools = 2);

}  // namespace foretrain
