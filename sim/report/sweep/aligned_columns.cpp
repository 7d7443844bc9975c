// Aligns columns of text. Every character of UTF-8 counts as one column.
#include "sim/report/sweep/aligned_columns.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// Returns the number of characters: all bytes but the continuation bytes of UTF-8.
std::size_t shown_width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Returns the text with blanks up to `width`, on the left or on the right.
std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string blanks(width - std::min(width, shown_width(text)), ' ');
  return left ? text + blanks : blanks + text;
}

}  // namespace

std::string aligned_columns(const std::vector<Cells>& rows, const std::vector<bool>& is_text) {
  std::vector<std::size_t> widths(is_text.size(), 0);
  for (const Cells& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], shown_width(row[c]));
  std::string out;
  for (const Cells& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c)
      line += (c == 0 ? "" : "  ") + padded(row[c], widths[c], is_text[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace foretrain
