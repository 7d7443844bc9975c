// Lines and fields of a CSV text with their places.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// A field of a CSV line: its text, and its place for messages.
struct CsvField {
  /// Text without the quotes around it.
  std::string text;
  SourceSpan span;
  /// The mistake in its quotes; empty when there is none.
  std::string fault;
};

/// Walks the records of a text in one pass. Quotes follow RFC 4180, except that a record does not continue
/// over a line break. CR before LF and a byte order mark are dropped. The text must outlive the object.
class CsvLines {
 public:
  explicit CsvLines(std::string_view text) : text_(text) {}
  /// Returns the next line that is neither empty nor a comment; nullopt at the end.
  std::optional<std::vector<CsvField>> next();
  /// Returns the number of the line that next() returned last, from 1.
  int line() const { return line_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 0;
};

}  // namespace foretrain
