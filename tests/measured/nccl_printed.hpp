// What real NCCL runs printed of themselves, read from docs/measured/nccl_*.csv.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "sim/scenario/csv/csv_line.hpp"
#include "tests/support/measured.hpp"

namespace foretrain::test {

using PrintedRow = std::map<std::string, std::string>;

inline std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> texts;
  const auto fields = CsvLines(line).next();
  if (!fields) return texts;
  for (const CsvField& field : *fields) texts.push_back(field.text);
  return texts;
}

/// Rows of a CSV by column name.
inline std::vector<PrintedRow> printed_rows(const char* file) {
  std::ifstream input(kMeasured / file);
  std::vector<PrintedRow> rows;
  std::vector<std::string> names;
  for (std::string line; std::getline(input, line);) {
    std::vector<std::string> fields = fields_of(line);
    if (names.empty()) {
      names = std::move(fields);
      continue;
    }
    PrintedRow& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = i < fields.size() ? fields[i] : "";
  }
  return rows;
}

}  // namespace foretrain::test
