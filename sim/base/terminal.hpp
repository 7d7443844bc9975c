// What a terminal may be sent that a file must not: colours, and lines broken at its width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace foretrain {

/// Whether a stream takes colours: it is a terminal, TERM is not "dumb", and NO_COLOR is not set.
bool takes_colours(int descriptor);

/// Whether a stream takes characters beyond ASCII: it is a terminal, and LC_ALL, LC_CTYPE or LANG (the first
/// that is set) says UTF-8.
bool takes_utf8(int descriptor);

/// Columns that prose is broken at: those of the terminal, from 80 to 120; 0 where the stream is none.
std::size_t prose_width(int descriptor);

/// The words "error:" and "warning:" and what carets underline, in colour. Of text that is printable_lines()
/// already.
std::string coloured(std::string_view lines);

/// Long lines of prose broken between words, further lines of each set in by two more. Prose begins at the
/// margin, or at least eight blanks in, and has no two blanks in a row; tables, lists and commands stay as
/// they are. 0: nothing is broken.
std::string wrapped(std::string_view lines, std::size_t width);

}  // namespace foretrain
