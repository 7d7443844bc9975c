// Text for people: characters that would act on a terminal or a script, or change the order of reading, are
// written as escapes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace foretrain {

/// Returns the number of bytes of the UTF-8 character at the front of `bytes`. Returns 0 if it is malformed:
/// overlong, a surrogate, or cut. Requires that `bytes` is not empty.
std::size_t utf8_length(std::string_view bytes);

/// Returns one line of text. Control characters (C0, DEL, C1), line and paragraph separators and direction
/// marks become \u001b. Bytes that are not UTF-8 become \xff. A tab becomes a space. All else stays.
std::string printable(std::string_view text);

/// Returns the same for a text of several lines: line ends and tabs stay.
std::string printable_lines(std::string_view text);

/// Returns whether printable() leaves the text as it is.
bool is_printable(std::string_view text);

/// Returns the beginning of a long text for a message: at most `most` bytes in whole characters, and "…" if
/// more follows.
std::string shortened(std::string_view text, std::size_t most = 200);

}  // namespace foretrain
