// A first look at a TOML text before it is parsed: statements, nesting and table counts, so that parsing has
// bounded cost.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Brackets, or names joined by dots, may nest this deep.
inline constexpr int kDeepestNesting = 64;
/// Table headers and dots in keys together; the parser's cost grows with their square.
inline constexpr int kMostTables = 10'000;
/// Values of a text, counted by commas and equal signs: a parsed one takes some hundred bytes.
inline constexpr int kMostValues = 5'000'000;

/// A fault of a text with its place.
struct TextFault {
  SourceSpan span;
  std::string message;
};

/// One pass over a TOML text before it is parsed: where statements of several lines begin, and the first
/// fault that a parser would not place well.
struct TextScan {
  /// For each line (index 0 = line 1) the line on which its statement began; differs inside lists and strings
  /// of several lines.
  std::vector<int> statement_start;
  std::optional<TextFault> fault;
};

/// One pass over the text; exact for valid TOML, and up to the first syntax error otherwise.
TextScan scan_text(std::string_view text);

/// Valid UTF-8 without NUL bytes.
bool is_text(std::string_view bytes);

}  // namespace foretrain
