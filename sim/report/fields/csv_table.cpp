// Writes CSV from a JSON report. The path of each column is followed through the objects that contain the
// row.
#include "sim/report/fields/csv_table.hpp"

#include <fmt/format.h>

#include "sim/report/prediction/csv.hpp"

namespace foretrain {

namespace {

// A row: the objects that contain it, the report first and the row itself last, and its index in its list.
struct CsvRow {
  std::vector<const Json*> around;
  std::size_t place = 0;
};

/// Returns the value behind a path of keys; nullptr when a key is missing.
const Json* value_at(const Json* from, std::string_view path) {
  while (from != nullptr && !path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const auto found = from->is_object() ? from->find(std::string(path.substr(0, end))) : from->end();
    from = found == from->end() ? nullptr : &*found;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return from;
}

/// Returns the text of a value: nothing for null, and a list of texts joined by "; ".
std::string csv_cell(const Json& value, CsvFlags flags) {
  if (value.is_null()) return "";
  if (value.is_boolean() && flags == CsvFlags::as_digits) return value.get<bool>() ? "1" : "0";
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (value.is_number()) return fmt::format("{}", value.get<std::int64_t>());
  if (value.is_string()) return csv_field(value.get_ref<const std::string&>());
  std::vector<std::string> texts;
  for (const Json& one : value) texts.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  return csv_field(fmt::format("{}", fmt::join(texts, "; ")));
}

/// Returns the cell of a column. "#" is the row's place from 1, and each "../" goes one object up.
std::string csv_cell(const CsvRow& row, const CsvColumn& column) {
  std::string_view path = column.path.empty() ? column.name : column.path;
  if (path == "#") return fmt::format("{}", row.place + 1);
  std::size_t level = row.around.size() - 1;
  for (; path.starts_with("../"); path.remove_prefix(3)) --level;
  const Json* value = value_at(row.around[level], path);
  return value == nullptr ? "" : csv_cell(*value, column.flags);
}

/// Collects the rows below `outer`, going down one list for each part of the path `rows`.
void add_csv_rows(std::vector<CsvRow>& out, const CsvRow& outer, std::string_view rows) {
  if (rows.empty()) {
    out.push_back(outer);
    return;
  }
  const std::size_t end = std::min(rows.find('/'), rows.size());
  const Json& list = outer.around.back()->at(std::string(rows.substr(0, end)));
  for (std::size_t i = 0; i < list.size(); ++i) {
    CsvRow inner = outer;
    inner.around.push_back(&list[i]);
    inner.place = i;
    add_csv_rows(out, inner, rows.substr(std::min(end + 1, rows.size())));
  }
}

}  // namespace

std::string csv_header(const std::vector<CsvColumn>& columns) {
  std::string out;
  for (const CsvColumn& column : columns) out += (out.empty() ? "" : ",") + csv_field(column.name);
  return out + "\n";
}

// The report is walked once to collect the rows, and then once for each cell.
std::string csv_lines(const std::vector<CsvColumn>& columns, const Json& report, std::string_view rows) {
  std::vector<CsvRow> lines;
  add_csv_rows(lines, {.around = {&report}}, rows);
  std::string out;
  for (const CsvRow& row : lines) {
    for (const CsvColumn& column : columns) {
      if (&column != &columns.front()) out += ',';
      out += csv_cell(row, column);
    }
    out += '\n';
  }
  return out;
}

std::string csv_table(const std::vector<CsvColumn>& columns, const Json& report, std::string_view rows) {
  return csv_header(columns) + csv_lines(columns, report, rows);
}

}  // namespace foretrain
