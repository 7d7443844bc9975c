// CSV from the declared fields: a column is a name and the path of a field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/report/json_value.hpp"

namespace foretrain {

/// How a column writes true and false.
enum class CsvFlags : std::uint8_t { as_words, as_digits };

/// A column of a CSV report.
struct CsvColumn {
  std::string_view name;
  /// "interval/low_s" of the row, "../gpus" of the object around it, "#" the row's place from 1; empty: the
  /// name
  std::string_view path{};
  CsvFlags flags = CsvFlags::as_words;
};

/// The header line.
std::string csv_header(const std::vector<CsvColumn>& columns);
/// One line for each row: the objects of the list `rows` of the report ("points"), or with
/// "points/strategies" those of the lists inside. What is null or not there is an empty field, a list of
/// texts is joined by "; ".
std::string csv_lines(const std::vector<CsvColumn>& columns, const Json& report, std::string_view rows);
/// Both.
std::string csv_table(const std::vector<CsvColumn>& columns, const Json& report, std::string_view rows);

}  // namespace foretrain
