// Everything that depends on whether a person reads the output on a terminal.
#include "sim/base/terminal.hpp"

#include <algorithm>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include "sim/base/held_output.hpp"

namespace foretrain {

namespace {

/// Limits of the width of prose in columns, and the indentation from which a line counts as prose again.
constexpr std::size_t kNarrowest = 80, kWidest = 120, kFarIn = 8;
constexpr std::string_view kRed = "\x1b[1;31m", kYellow = "\x1b[1;33m", kGreen = "\x1b[1;32m",
                           kPlain = "\x1b[0m";

std::string in_colour(std::string_view colour, std::string_view text) {
  return std::string(colour) + std::string(text) + std::string(kPlain);
}

/// Returns the line with the word at position `at` in colour.
std::string with_word(std::string_view line, std::size_t at, std::string_view word, std::string_view colour) {
  return std::string(line.substr(0, at)) + in_colour(colour, word) +
         std::string(line.substr(at + word.size()));
}

/// Returns whether the line is that of the carets below a quoted line: "    | ^^^^^".
bool is_caret_line(std::string_view line) {
  return line.ends_with('^') && line.find_first_not_of(" |^") == std::string_view::npos;
}

/// Colours a line by its kind. Indented lines are quotes and hints, which stay plain.
std::string coloured_line(std::string_view line) {
  if (is_caret_line(line)) {
    const std::size_t caret = line.find('^');
    return std::string(line.substr(0, caret)) + in_colour(kGreen, line.substr(caret));
  }
  if (line.starts_with(' ')) return std::string(line);
  const std::size_t error = line.find("error: ");
  if (error != std::string_view::npos) return with_word(line, error, "error:", kRed);
  return line.starts_with("warning: ") ? with_word(line, 0, "warning:", kYellow) : std::string(line);
}

/// Returns the number of characters of a UTF-8 text.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// Returns whether the line is prose: a paragraph at the margin, or far to the right below the row of a table
/// that it explains.
bool is_prose(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  return begin != std::string_view::npos && (begin == 0 || begin >= kFarIn) && line[begin] != '#' &&
         line.find("  ", begin) == std::string_view::npos;
}

/// Breaks a line greedily: a word that does not fit begins the next line.
std::string wrapped_line(std::string_view line, std::size_t width) {
  const std::size_t begin = line.find_first_not_of(' ');
  const std::string indent(begin, ' ');
  std::string out = indent;
  std::size_t column = begin;
  line.remove_prefix(begin);
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    const bool is_first = column == begin;
    const bool fits = is_first || column + 1 + columns_of(word) <= width;
    if (!is_first) out += fits ? " " : "\n" + indent + "  ";
    out += word;
    column = fits ? column + (is_first ? 0 : 1) + columns_of(word) : begin + 2 + columns_of(word);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return out;
}

/// Applies `change` to each line and keeps the line ends.
template <class Change>
std::string each_line(std::string_view lines, Change change) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    out += change(lines.substr(0, end));
    if (end == std::string_view::npos) break;
    out += '\n';
    lines.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

bool takes_colours(int descriptor) {
  const char* off = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  const bool is_wanted = off == nullptr || *off == '\0';
  const bool is_able = kind != nullptr && std::string_view(kind) != "dumb";
  return is_wanted && is_able && is_terminal(descriptor);
}

bool takes_utf8(int descriptor) {
  if (!is_terminal(descriptor)) return false;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    return locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

std::size_t prose_width(int descriptor) {
  if (!is_terminal(descriptor)) return 0;
  winsize size{};
  const bool is_known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return std::clamp<std::size_t>(is_known ? size.ws_col : kNarrowest, kNarrowest, kWidest);
}

std::string coloured(std::string_view lines) { return each_line(lines, coloured_line); }

std::string wrapped(std::string_view lines, std::size_t width) {
  if (width == 0) return std::string(lines);
  return each_line(lines, [width](std::string_view line) {
    return columns_of(line) <= width || !is_prose(line) ? std::string(line) : wrapped_line(line, width);
  });
}

}  // namespace foretrain
