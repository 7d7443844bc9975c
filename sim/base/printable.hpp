// Text that people see: characters that would act on a terminal, a script or the order of reading are written
// out instead.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace foretrain {

/// Bytes of the UTF-8 character at the front of `bytes`, which is not empty; 0 when it is malformed
/// (overlong, a surrogate, cut).
std::size_t utf8_length(std::string_view bytes);

/// One line of text. Control characters (C0, DEL, C1), line and paragraph separators and the marks of writing
/// direction become \u001b, bytes that are no UTF-8 become \xff, tabs a space; all else stays.
std::string printable(std::string_view text);

/// The same for a text of several lines: line ends and tabs stay.
std::string printable_lines(std::string_view text);

/// Whether printable() leaves the text as it is.
bool is_printable(std::string_view text);

/// The beginning of a long text, for messages: at most `most` bytes in whole characters, and "…" for what
/// follows.
std::string shortened(std::string_view text, std::size_t most = 200);

}  // namespace foretrain
