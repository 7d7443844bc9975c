// Tables made narrower for a terminal that has no room for their blanks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace foretrain {

/// In tables (lines that have two blanks in a row behind their beginning, up to the next empty line) that are
/// wider than `width`, columns of characters that are blank in every row go until it fits, but for one
/// between words. Other lines stay, and all do where `width` is 0.
std::string narrowed(std::string_view lines, std::size_t width);

}  // namespace foretrain
