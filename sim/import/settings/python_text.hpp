// A place in a Python text, and what can be read there: blanks, names, strings.
#pragma once

#include <string>
#include <string_view>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Moves through a text, which must outlive it. Nothing is run, and the end is read as zeros.
class PythonText {
 public:
  /// To go back to later.
  struct Place {
    std::size_t at = 0, line_start = 0;
    int line = 1;
    bool is_indented = true;  ///< nothing but blanks stands before it in its line
  };

  explicit PythonText(const std::string& text) : text_(text) {}

  const Place& place() const { return place_; }
  void go_to(const Place& place) { place_ = place; }
  bool at_end() const { return place_.at >= text_.size(); }
  /// Whether nothing but blanks stands before the place in its line.
  bool begins_line() const { return place_.is_indented; }
  SourceSpan here() const { return {place_.line, static_cast<int>(place_.at - place_.line_start) + 1, 1}; }
  /// The character so far ahead.
  char peek(std::size_t ahead = 0) const {
    return place_.at + ahead < text_.size() ? text_[place_.at + ahead] : '\0';
  }

  void advance();
  /// Past blanks, comments and line ends; whether there were any.
  bool skip_blank();
  /// Past letters, digits, underlines and dots.
  std::string dotted_name();
  /// Past a string in quotes, with r, b, u or f before them; whether there was one. f-strings are kNotKnown.
  bool skip_string(std::string* value);

 private:
  const std::string& text_;
  Place place_;
};

/// Whether a name may hold the character.
bool is_name_letter(char c);

}  // namespace foretrain
