// Lines and fields of a CSV text with their places.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// A field of a CSV line: its text without quotes, and where it stands for messages.
struct CsvField {
  std::string text;  ///< without quotes
  SourceSpan span;
  std::string fault;  ///< what is wrong with its quotes; empty when nothing is
};

/// Walks the records of a text. RFC 4180 quotes, except that a record does not continue over a line break; CR
/// before LF and a byte order mark are dropped.
class CsvLines {
 public:
  explicit CsvLines(std::string_view text) : text_(text) {}
  /// The next line that is neither empty nor a comment; nullopt at the end.
  std::optional<std::vector<CsvField>> next();
  int line() const { return line_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 0;
};

}  // namespace foretrain
