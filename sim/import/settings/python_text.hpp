// Declares a place in a Python text, and what can be read there: blanks, names, strings.
#pragma once

#include <string>
#include <string_view>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Moves through a text, which must outlive the object. Nothing is run. Behind the end every character reads
/// as zero. No function throws.
class PythonText {
 public:
  /// A place to return to later.
  struct Place {
    std::size_t at = 0, line_start = 0;
    int line = 1;
    /// Only blanks stand before the place in its line.
    bool is_indented = true;
  };

  explicit PythonText(const std::string& text) : text_(text) {}

  const Place& place() const { return place_; }
  /// Returns to a place that place() gave for the same text.
  void go_to(const Place& place) { place_ = place; }
  bool at_end() const { return place_.at >= text_.size(); }
  /// Returns whether only blanks stand before the place in its line.
  bool begins_line() const { return place_.is_indented; }
  SourceSpan here() const { return {place_.line, static_cast<int>(place_.at - place_.line_start) + 1, 1}; }
  /// Returns the character that is `ahead` further on, without moving.
  char peek(std::size_t ahead = 0) const {
    return place_.at + ahead < text_.size() ? text_[place_.at + ahead] : '\0';
  }

  /// Moves by one character; does nothing at the end.
  void advance();
  /// Moves past blanks, comments and line ends. Returns whether there were any.
  bool skip_blank();
  /// Moves past letters, digits, underlines and dots, and returns them.
  std::string dotted_name();
  /// Moves past a string in quotes, with r, b, u or f before them. Returns whether there was one. `value` may
  /// be nullptr; it gets the contents, or kNotKnown for an f-string.
  bool skip_string(std::string* value);

 private:
  const std::string& text_;
  Place place_;
};

/// Returns whether a dotted name may have the character.
bool is_name_letter(char c);

}  // namespace foretrain
