// What readers and tables do to ASCII: blanks around it cut off, letters lowered. Other bytes stay as they
// are.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// Without blanks (space, tab, carriage return, vertical tab, form feed) at either end; line feeds stay.
std::string_view trimmed(std::string_view text);
/// Without spaces at its end, as lines of tables.
std::string without_trailing_spaces(std::string text);
/// 'A' to 'Z' as small letters.
std::string lower_case(std::string_view text);

}  // namespace foretrain
