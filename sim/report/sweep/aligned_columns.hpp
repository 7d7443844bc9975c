// Rows under each other, in columns as wide as what stands in them.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

using Cells = std::vector<std::string>;

/// Text to the left, numbers to the right; no blanks at the ends of lines.
std::string aligned_columns(const std::vector<Cells>& rows, const std::vector<bool>& is_text);

}  // namespace foretrain
