// Output that a terminal may get and a file must not: colours, and lines broken at the terminal's width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace foretrain {

/// Returns whether the descriptor takes colours: it is a terminal, TERM is set and not "dumb", and NO_COLOR
/// is not set.
bool takes_colours(int descriptor);

/// Returns whether the descriptor takes characters beyond ASCII: it is a terminal, and the first of LC_ALL,
/// LC_CTYPE and LANG that is set says UTF-8.
bool takes_utf8(int descriptor);

/// Returns the number of columns at which prose is broken: that of the terminal, limited to 80 to 120.
/// Returns 0 if the descriptor is no terminal.
std::size_t prose_width(int descriptor);

/// Colours the words "error:" and "warning:" and the carets. Requires that the text is printable_lines()
/// already.
std::string coloured(std::string_view lines);

/// Breaks long lines of prose between words; the continuation is indented by two more columns. Prose begins
/// at the margin, or at least eight blanks in, and has no two blanks in a row. Tables, lists and commands
/// stay. Width 0 breaks nothing.
std::string wrapped(std::string_view lines, std::size_t width);

}  // namespace foretrain
