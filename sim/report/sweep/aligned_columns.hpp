// Rows below each other, in columns as wide as their cells.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

using Cells = std::vector<std::string>;

/// Returns the rows as lines. Columns of text are left-aligned and others right-aligned; lines have no
/// trailing blanks.
std::string aligned_columns(const std::vector<Cells>& rows, const std::vector<bool>& is_text);

}  // namespace foretrain
