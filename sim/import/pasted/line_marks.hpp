// Declares the recognition of a tool by a single line, for lines that only one tool prints.
#pragma once

#include <string_view>

#include "sim/import/pasted/text_blocks.hpp"

namespace foretrain {

/// Returns the tool that prints a line; `unknown` where any tool may print it. `next` is the line below,
/// empty at the end of the text.
BlockKind mark_of_line(std::string_view line, std::string_view next);

/// Returns whether a line without a mark belongs to the block of this kind above it.
bool goes_on(BlockKind kind, std::string_view line);

}  // namespace foretrain
