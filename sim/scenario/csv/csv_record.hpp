// One record of a CSV table seen through its header: columns by name, each field read at its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/csv/csv_line.hpp"

namespace foretrain {

/// Returns whether further mistakes would not be reported.
bool is_full(const Diagnostics& diagnostics);

/// Reports a mistake unless the diagnostics are full. It keeps long lists of mistakes cheap, because quoting
/// a line needs a walk through the text.
void add_mistake(Diagnostics& diagnostics, SourceSpan span, std::string message, std::string hint = "");

/// The columns of a table, by name.
class CsvHeader {
 public:
  explicit CsvHeader(const std::vector<CsvField>& fields);
  /// Returns whether there is a column of that name.
  bool has(std::string_view name) const;
  /// Returns the index of a column; size() when there is none.
  std::size_t index(std::string_view name) const;
  std::size_t size() const { return names_.size(); }
  SourceSpan span() const { return span_; }

  /// Reports columns that are unknown, repeated or missing; `optional` ones may be missing.
  void check(const std::vector<CsvField>& fields, const std::vector<std::string>& wanted,
             const std::vector<std::string>& optional, Diagnostics& diagnostics) const;

 private:
  std::vector<std::string> names_;
  SourceSpan span_;
};

/// One record. Every getter reports a field that is not what it must be, and goes on. Header, fields and
/// diagnostics must outlive the record. Columns that are asked for must exist, except in text().
class CsvRecord {
 public:
  CsvRecord(const CsvHeader& header, const std::vector<CsvField>& fields, Diagnostics& diagnostics)
      : header_(header), fields_(fields), diagnostics_(diagnostics) {}

  /// Returns the line of the record.
  int line() const { return fields_.front().span.line; }
  const CsvField& field(std::string_view name) const { return fields_[header_.index(name)]; }
  /// Returns whether there are as many fields as columns, each with valid quotes; reports the others.
  bool is_sound() const;
  /// Returns the text of a field; empty for an optional column that is missing.
  std::string text(std::string_view column) const;
  /// Returns the text of a field; reports an empty one.
  std::string name(std::string_view column) const;
  /// Returns an integer in [least, most]; reports others.
  std::optional<std::int64_t> integer(std::string_view column, std::int64_t least, std::int64_t most) const;
  /// Returns a number above zero; reports others, and those outside of [least, most].
  double positive(std::string_view column, double least, double most) const;
  /// Returns the text of a field; reports a text that is not one of `names`.
  std::string one_of(std::string_view column, const std::vector<std::string>& names) const;
  /// Reports a mistake at a field.
  void wrong(std::string_view column, std::string message, std::string hint = "") const;

 private:
  const CsvHeader& header_;
  const std::vector<CsvField>& fields_;
  Diagnostics& diagnostics_;
};

}  // namespace foretrain
