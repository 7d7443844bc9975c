// Walks a Python text. A string ends at its quotes, or at the end of the line where it has one quote, so that
// a missing quote does not swallow the rest of a program.
#include "sim/import/settings/python_text.hpp"

#include <cctype>

#include "sim/import/settings/trees.hpp"

namespace foretrain {

/// Dots count as letters, so a dotted name is read as one.
bool is_name_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// A place is indented as long as only blanks stand before it in its line.
void PythonText::advance() {
  if (at_end()) return;
  const char passed = text_[place_.at++];
  place_.is_indented = passed == '\n' || (place_.is_indented && (passed == ' ' || passed == '\t'));
  if (passed != '\n') return;
  ++place_.line;
  place_.line_start = place_.at;
}

/// A backslash continues a line, so it counts as a blank.
bool PythonText::skip_blank() {
  const std::size_t before = place_.at;
  while (!at_end()) {
    if (peek() == '#') {
      while (!at_end() && peek() != '\n') advance();
    } else if (std::isspace(static_cast<unsigned char>(peek())) != 0 || peek() == '\\') {
      advance();
    } else {
      break;
    }
  }
  return place_.at != before;
}

/// The result is empty where no name begins here.
std::string PythonText::dotted_name() {
  std::string name;
  while (!at_end() && is_name_letter(peek())) name += peek(), advance();
  return name;
}

/// Prefixes such as r, b, u and f, at most two of them, may stand before the quote. What an f-string has is
/// only known in the run.
bool PythonText::skip_string(std::string* value) {
  std::size_t prefix = 0;
  bool formatted = false;
  while (prefix < 2 && std::string_view("rRbBuUfF").find(peek(prefix)) != std::string_view::npos)
    formatted = formatted || peek(prefix) == 'f' || peek(prefix) == 'F', ++prefix;
  const char quote = peek(prefix);
  if (quote != '"' && quote != '\'') return false;
  for (std::size_t i = 0; i < prefix; ++i) advance();
  // Three quotes begin a text that may have several lines.
  const bool triple = peek(1) == quote && peek(2) == quote;
  const std::size_t width = triple ? 3 : 1;
  for (std::size_t i = 0; i < width; ++i) advance();
  std::string inside;
  while (!at_end()) {
    if (peek() == quote && (!triple || (peek(1) == quote && peek(2) == quote))) break;
    if (!triple && peek() == '\n') break;
    // An escaped character is taken as it is; names of files and settings have no other escapes.
    if (peek() == '\\') advance();
    inside += peek();
    advance();
  }
  for (std::size_t i = 0; i < width && peek() == quote; ++i) advance();
  if (value != nullptr) *value = formatted ? std::string(kNotKnown) : inside;
  return true;
}

}  // namespace foretrain
