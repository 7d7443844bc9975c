// A pasted text of many tools, read: the machine of its blocks, what contradicts what, and what nobody reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"
#include "sim/import/pasted/text_blocks.hpp"

namespace foretrain {

/// What a block is, and what its reader found, in one line.
struct BlockFinding {
  BlockKind kind = BlockKind::unknown;
  int first_line = 0, last_line = 0;
  std::string command;  ///< that a prompt shows; empty: none
  std::string what;     ///< empty: no reader takes it
};

/// What was found in a pasted text: machines, warnings and parts for other commands.
struct PastedText {
  std::vector<BlockFinding> findings;  ///< in the order of lines
  std::vector<Machine> machines;       ///< one per block that tells of a machine
  std::vector<MachineWarning> doubts;  ///< blocks that say different things
  std::vector<std::string> notes;      ///< what other commands do with the rest, and what nobody reads
};

/// Of a machine so many blocks are read; what is printed again and again says nothing new.
inline constexpr std::size_t kMostMachineBlocks = 200;

/// Whether so many tools or more printed it.
bool is_pasted_text(std::string_view text, std::size_t least_tools = 2);

/// Nothing where the text is of fewer tools: of one, its own reader takes it whole. Throws InputError with
/// the mistakes of all blocks, each with its line in the text.
std::optional<PastedText> read_pasted_text(const SourceText& source, std::size_t least_tools = 2);

}  // namespace foretrain
