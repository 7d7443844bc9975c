// Reader of CSV. There is one pass per line. A field with a broken quote is read up to its comma and keeps
// the mistake, so that the rest of the line can still be read.
#include "sim/scenario/csv/csv_line.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// The mark that some programs write before UTF-8 text.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Reads from behind the opening quote to behind the closing one; returns false when there is none.
bool take_quoted(std::string_view line, std::size_t& at, std::string& text) {
  while (at < line.size()) {
    const char c = line[at++];
    if (c != '"') {
      text += c;
    } else if (at < line.size() && line[at] == '"') {
      text += line[at++];
    } else {
      return true;
    }
  }
  return false;
}

/// Reads one field from `at` on and moves `at` behind its comma.
CsvField take_field(std::string_view line, std::size_t& at, int number) {
  CsvField field;
  const std::size_t begin = at;
  const bool quoted = at < line.size() && line[at] == '"';
  // Quotes around the whole field are removed.
  if (quoted && !take_quoted(line, ++at, field.text)) field.fault = "the quote is not closed on this line";
  const std::size_t end = std::min(line.find(',', at), line.size());
  const std::string_view rest = line.substr(std::min(at, end), end - std::min(at, end));
  if (quoted && !rest.empty()) field.fault = "there is text behind the closing quote";
  if (!quoted && rest.find('"') != std::string_view::npos)
    field.fault = "there is a quote inside a field that does not begin with one";
  field.text += rest;
  at = end;
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
    // The mark can only stand in front of the first line.
    const std::size_t first = line_ == 1 && line.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    // Empty lines and comments are no records.
    if (line.size() == first || line[first] == '#') continue;
    std::vector<CsvField> fields;
    for (std::size_t at = first; at <= line.size();) fields.push_back(take_field(line, at, line_));
    return fields;
  }
  return std::nullopt;
}

}  // namespace foretrain
