// One pass per line.
#include "sim/scenario/csv_line.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// Reads one field from `at` on and leaves `at` behind its comma.
CsvField take_field(std::string_view line, std::size_t& at, int number) {
  CsvField field;
  const std::size_t begin = at;
  bool quoted = at < line.size() && line[at] == '"';
  if (quoted) ++at;
  while (at < line.size() && (quoted || line[at] != ',')) {
    if (quoted && line[at] == '"') {
      if (at + 1 < line.size() && line[at + 1] == '"') {
        ++at;
      } else {
        quoted = false;
        ++at;
        continue;
      }
    }
    field.text += line[at++];
  }
  field.span = {number, static_cast<int>(begin) + 1, std::max(1, static_cast<int>(at - begin))};
  ++at;
  return field;
}

}  // namespace

std::optional<std::vector<CsvField>> CsvLines::next() {
  while (at_ < text_.size()) {
    const std::size_t newline = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, newline - at_);
    at_ = newline + 1;
    ++line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    std::vector<CsvField> fields;
    for (std::size_t at = 0; at <= line.size();) fields.push_back(take_field(line, at, line_));
    return fields;
  }
  return std::nullopt;
}

}  // namespace foretrain
