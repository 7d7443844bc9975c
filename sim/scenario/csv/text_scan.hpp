// A scan of a TOML text before it is parsed: statements, nesting and numbers of tables, so that parsing has
// bounded cost.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Largest depth of brackets, or of names joined by dots.
inline constexpr int kDeepestNesting = 64;
/// Largest number of table headers and dots in keys together; the parser's cost grows with their square.
inline constexpr int kMostTables = 10'000;
/// Largest number of values of a text, counted by commas and equal signs: a parsed value takes some hundred
/// bytes.
inline constexpr int kMostValues = 5'000'000;

/// A fault of a text with its place.
struct TextFault {
  SourceSpan span;
  std::string message;
};

/// The result of a scan: the lines on which statements begin, and the first fault that a parser would not
/// place well.
struct TextScan {
  /// For each line (index 0 = line 1) the line on which its statement began. The two differ inside lists and
  /// strings of several lines.
  std::vector<int> statement_start;
  std::optional<TextFault> fault;
};

/// Scans a text in one pass. The result is exact for valid TOML, and up to the first syntax error otherwise.
TextScan scan_text(std::string_view text);

/// Returns whether bytes are valid UTF-8 without NUL.
bool is_text(std::string_view bytes);

}  // namespace foretrain
