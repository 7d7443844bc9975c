// Tables made narrower for a terminal, by removal of blank columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace foretrain {

/// Returns the text with its tables narrowed to `width` columns. A table is a group of lines up to the next
/// empty line that have two blanks in a row after their beginning. Columns that are blank in every row are
/// removed until the table fits, except one between words. Other lines stay, and all lines stay if `width` is
/// 0.
std::string narrowed(std::string_view lines, std::size_t width);

}  // namespace foretrain
