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

bool is_full(const Diagnostics& diagnostics);

/// Keeps long lists of mistakes cheap: quoting a line takes a walk through the text.
void add_mistake(Diagnostics& diagnostics, SourceSpan span, std::string message, std::string hint = "");

/// Which column stands where.
class CsvHeader {
 public:
  explicit CsvHeader(const std::vector<CsvField>& fields);
  bool has(std::string_view name) const;
  std::size_t index(std::string_view name) const;
  std::size_t size() const { return names_.size(); }
  SourceSpan span() const { return span_; }

  /// Reports columns that are unknown, there twice or missing; `optional` ones may be.
  void check(const std::vector<CsvField>& fields, const std::vector<std::string>& wanted,
             const std::vector<std::string>& optional, Diagnostics& diagnostics) const;

 private:
  std::vector<std::string> names_;
  SourceSpan span_;
};

/// Reports a field that is not what it must be, and goes on.
class CsvRecord {
 public:
  CsvRecord(const CsvHeader& header, const std::vector<CsvField>& fields, Diagnostics& diagnostics)
      : header_(header), fields_(fields), diagnostics_(diagnostics) {}

  int line() const { return fields_.front().span.line; }
  const CsvField& field(std::string_view name) const { return fields_[header_.index(name)]; }
  /// Whether there are as many fields as columns, each with its quotes right; reports the others.
  bool is_sound() const;
  /// Empty for an optional column that is not there.
  std::string text(std::string_view column) const;
  /// Not empty.
  std::string name(std::string_view column) const;
  std::optional<std::int64_t> integer(std::string_view column, std::int64_t least, std::int64_t most) const;
  double positive(std::string_view column, double least, double most) const;
  /// One of `names`, or as it stands there.
  std::string one_of(std::string_view column, const std::vector<std::string>& names) const;
  void wrong(std::string_view column, std::string message, std::string hint = "") const;

 private:
  const CsvHeader& header_;
  const std::vector<CsvField>& fields_;
  Diagnostics& diagnostics_;
};

}  // namespace foretrain
