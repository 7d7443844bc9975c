// Which tool prints a line, where only one does.
#pragma once

#include <string_view>

#include "sim/import/pasted/text_blocks.hpp"

namespace foretrain {

/// `unknown`: any tool may print such a line. `next` is the line below, empty at the end.
BlockKind mark_of_line(std::string_view line, std::string_view next);

/// Whether a line without a mark belongs to the block of this kind above it.
bool goes_on(BlockKind kind, std::string_view line);

}  // namespace foretrain
