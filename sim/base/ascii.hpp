// Small operations on ASCII text: trimming blanks and lowering letters. Bytes beyond ASCII stay as they are.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// Returns `text` without blanks at either end: space, tab, carriage return, vertical tab, form feed. Line
/// feeds stay.
std::string_view trimmed(std::string_view text);
/// Returns `text` without spaces at its end, for lines of tables.
std::string without_trailing_spaces(std::string text);
/// Returns `text` with 'A' to 'Z' as small letters, independent of the locale.
std::string lower_case(std::string_view text);

}  // namespace foretrain
