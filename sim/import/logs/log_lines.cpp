// A line is copied once without control sequences. Then the prefix of a launcher is cut from its front, so
// that readers see what the program printed.
#include "sim/import/logs/log_lines.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Character classes by ASCII alone, so that the locale does not matter.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

/// Returns the line without sequences of the form ESC [ … letter and without single control characters, which
/// only a terminal understands.
std::string without_control(std::string_view line) {
  std::string text;
  text.reserve(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      for (i += 2; i < line.size() && (line[i] < '@' || line[i] > '~'); ++i) {
      }
    } else if (c == '\t' || static_cast<unsigned char>(c) >= ' ') {
      text += c == '\x7f' ? ' ' : c;
    }
  }
  return text;
}

/// Returns the length of a mark such as "[1,0]<stdout>:" or "[STAT]:" at the front; 0 when there is none.
std::size_t tag_length(std::string_view line) {
  // Longer marks are no marks: the text goes on in brackets.
  constexpr std::size_t kLongestTag = 60;
  if (line.empty() || line[0] != '[') return 0;
  const std::size_t close = line.substr(0, kLongestTag).find(']');
  if (close == std::string_view::npos) return 0;
  std::size_t at = close + 1;
  if (at < line.size() && line[at] == '<')
    at = std::min(line.substr(0, kLongestTag).find('>', at), kLongestTag) + 1;
  return at < line.size() && line[at] == ':' ? at + 1 : 0;
}

/// Returns the length of a label of srun --label, such as "0:" or "12:", which a blank follows; 0 when there
/// is none.
std::size_t label_length(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size() && at < 7 && is_digit(line[at])) ++at;
  return at > 0 && at + 1 < line.size() && line[at] == ':' && is_blank(line[at + 1]) ? at + 1 : 0;
}

}  // namespace

bool LogLines::next(LogLine& line) {
  if (rest_.empty()) return false;
  const std::size_t end = std::min(rest_.find_first_of("\r\n"), rest_.size());
  std::string_view text = rest_.substr(0, end);
  line.number = number_;
  // Texts that were joined from several files may hold byte order marks within.
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  // A line ends at "\n" or "\r\n", which count, or at a lone "\r", which does not.
  const bool is_feed = end < rest_.size() && rest_[end] == '\n';
  const bool is_pair = end + 1 < rest_.size() && rest_[end] == '\r' && rest_[end + 1] == '\n';
  rest_.remove_prefix(std::min(end + (is_pair ? 2 : 1), rest_.size()));
  if (is_feed || is_pair) ++number_;
  line.text = without_control(text);
  std::string_view body = trimmed(line.text);
  std::size_t cut = static_cast<std::size_t>(body.data() - line.text.data());
  // A line is labelled by one launcher, so the longer mark is the right one.
  const std::size_t tag = std::max(tag_length(body), label_length(body));
  if (tag > 0) line.text.erase(0, cut + tag);
  return true;
}

std::vector<std::string_view> words_of(std::string_view line, std::size_t most) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size() && words.size() < most;) {
    while (at < line.size() && is_blank(line[at])) ++at;
    const std::size_t begin = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    if (at > begin) words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string_view text_behind(std::string_view line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  return at == std::string_view::npos ? std::string_view{} : trimmed(line.substr(at + mark.size()));
}

std::optional<std::int64_t> integer_behind(std::string_view line, std::string_view mark) {
  const std::string_view rest = text_behind(line, mark);
  std::size_t end = 0;
  while (end < rest.size() && is_digit(rest[end])) ++end;
  return integer_of(rest.substr(0, end));
}

std::optional<double> number_of(std::string_view word) {
  // from_chars accepts no plus sign.
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || end != word.data() + word.size()) return std::nullopt;
  // A number that is too large or too small is still a number: from_chars leaves the value as it is.
  if (problem == std::errc::result_out_of_range) return value;
  return problem == std::errc{} ? std::optional<double>(value) : std::nullopt;
}

std::optional<std::int64_t> integer_of(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || problem != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// Comments count only at the top, before the first line that is none.
std::string_view comment_fact(std::string_view text, std::string_view key) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (text.starts_with('#')) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line = trimmed(line.substr(std::min(line.find_first_not_of('#'), line.size())));
    if (line.starts_with(key) && line.substr(key.size()).starts_with(':')) {
      line = trimmed(line.substr(key.size() + 1));
      return line.ends_with('\r') ? trimmed(line.substr(0, line.size() - 1)) : line;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::string why_no_number(std::string_view word) {
  if (word.empty()) return "the line ends early";
  const std::string_view shown = word.substr(0, 20);
  if (holds(word, ",") && is_digit(word.front()))
    return fmt::format("\"{}\" is no number; decimals need a point", shown);
  return fmt::format("\"{}\" is no number", shown);
}

}  // namespace foretrain
