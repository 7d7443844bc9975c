// CSV from the declared fields: a column is a name and the path of a field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/report/json_value.hpp"

namespace foretrain {

/// The form of booleans in a column: as true and false, or as 1 and 0.
enum class CsvFlags : std::uint8_t { as_words, as_digits };

/// A column of a CSV report.
struct CsvColumn {
  std::string_view name;
  /// Path of the field: "interval/low_s" of the row, "../gpus" of the object that contains it, or "#" for the
  /// row's place from 1. Empty: the column's name is the path.
  std::string_view path{};
  CsvFlags flags = CsvFlags::as_words;
};

/// Returns the header line.
std::string csv_header(const std::vector<CsvColumn>& columns);
/// Returns one line for each row. Rows are the objects of the report's list `rows` ("points"), or with
/// "points/strategies" those of the lists inside it. A value that is null or missing is an empty field; a
/// list of texts is joined by "; ".
std::string csv_lines(const std::vector<CsvColumn>& columns, const Json& report, std::string_view rows);
/// Returns header and lines.
std::string csv_table(const std::vector<CsvColumn>& columns, const Json& report, std::string_view rows);

}  // namespace foretrain
