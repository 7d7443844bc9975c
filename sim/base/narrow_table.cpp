// The unit is the character, not the byte, because bars are drawn with characters of three bytes. Blanks are
// removed from the widest gap first, one at a time, so that gaps become even.
#include "sim/base/narrow_table.hpp"

#include <algorithm>
#include <vector>

namespace foretrain {

namespace {

/// A line as its characters; each one is one or several bytes.
using Characters = std::vector<std::string_view>;

Characters characters_of(std::string_view line) {
  Characters out;
  for (std::size_t begin = 0; begin < line.size();) {
    std::size_t end = begin + 1;
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) ++end;
    out.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return out;
}

/// Returns whether the line belongs to a table: two blanks in a row after its first character.
bool is_row(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  return begin != std::string_view::npos && line.find("  ", begin) != std::string_view::npos;
}

/// Returns the width of the widest row in characters.
std::size_t widest_of(const std::vector<Characters>& rows) {
  std::size_t most = 0;
  for (const Characters& row : rows) most = std::max(most, row.size());
  return most;
}

/// A run of neighbouring columns that are blank in every row.
struct Gap {
  std::size_t begin = 0, length = 0;
};

std::vector<Gap> gaps_of(const std::vector<Characters>& rows) {
  std::vector<Gap> gaps;
  for (std::size_t column = 0; column < widest_of(rows); ++column) {
    const bool is_blank = std::ranges::all_of(
        rows, [column](const Characters& row) { return column >= row.size() || row[column] == " "; });
    if (!is_blank) continue;
    if (!gaps.empty() && gaps.back().begin + gaps.back().length == column)
      ++gaps.back().length;
    else
      gaps.push_back({column, 1});
  }
  return gaps;
}

/// Returns which columns to remove so that there are `too_many` fewer. Each gap keeps one column.
std::vector<bool> dropped_columns(const std::vector<Characters>& rows, std::size_t too_many) {
  std::vector<bool> dropped(widest_of(rows), false);
  std::vector<Gap> gaps = gaps_of(rows);
  for (; too_many > 0; --too_many) {
    const auto widest = std::ranges::max_element(gaps, {}, &Gap::length);
    if (widest == gaps.end() || widest->length < 2) break;
    dropped[widest->begin + --widest->length] = true;
  }
  return dropped;
}

std::string without_columns(const Characters& row, const std::vector<bool>& dropped) {
  std::string out;
  for (std::size_t column = 0; column < row.size(); ++column)
    if (!dropped[column]) out += row[column];
  return out;
}

/// Narrows lines that have no empty line among them. Lines that are no rows stay.
std::string narrowed_part(const std::vector<std::string_view>& lines, std::size_t width) {
  std::vector<Characters> rows;
  for (const std::string_view line : lines)
    if (is_row(line)) rows.push_back(characters_of(line));
  const std::size_t widest = widest_of(rows);
  const std::vector<bool> dropped = dropped_columns(rows, widest > width ? widest - width : 0);
  std::string out;
  auto row = rows.begin();
  for (const std::string_view line : lines)
    out += (is_row(line) ? without_columns(*row++, dropped) : std::string(line)) + "\n";
  return out;
}

}  // namespace

std::string narrowed(std::string_view lines, std::size_t width) {
  if (width == 0) return std::string(lines);
  std::string out;
  std::vector<std::string_view> part;
  const bool ends_with_line = lines.ends_with('\n');
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    part.push_back(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    // A part ends with an empty line or with the text.
    if (!part.back().empty() && !lines.empty()) continue;
    out += narrowed_part(part, width);
    part.clear();
  }
  if (!ends_with_line && !out.empty()) out.pop_back();
  return out;
}

}  // namespace foretrain
