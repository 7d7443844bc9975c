// The scanner: a lexer that knows only strings, comments, brackets, dots and line ends. Dots count towards
// nesting between two delimiters, where they join the parts of a key. Those before '=' or in a header also
// count as tables.
#include "sim/scenario/csv/text_scan.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// Scans one text. `depth_` is the depth of brackets; a long string counts as one, because lines inside it
/// belong to its statement.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { start_line(); }

  TextScan run() {
    while (at_ < text_.size() && !scan_.fault) step();
    return std::move(scan_);
  }

 private:
  // A line begins a statement unless it is inside of brackets or a long string.
  void start_line() {
    ++line_;
    line_begin_ = at_;
    // At depth 0 a new statement begins.
    if (depth_ == 0) statement_ = line_, header_ = false, fresh_ = true;
    scan_.statement_start.push_back(statement_);
  }

  // Handles the character at `at_`, or a whole string or comment.
  void step() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return skip_string(c);
    if (c == '#') return skip_comment();
    ++at_;
    if (c == '\n')
      dots_ = 0, start_line();
    else if (c == '.')
      count_dot();
    else if (c == '[' || c == '{')
      open(c);
    else if (c == ']' || c == '}')
      close();
    else if (c == '=')
      end_key();
    else if (c == ',')
      dots_ = 0, count_value();
    // White space keeps the line fresh: a bracket may be indented.
    if (c != ' ' && c != '\t' && c != '\n') fresh_ = false;
  }

  // A bracket that is the first character of a statement begins a header.
  void open(char c) {
    dots_ = 0;
    if (c == '[' && fresh_) header_ = true, count_tables(1);
    if (++depth_ > kDeepestNesting) fail(fmt::format("nested more than {} deep", kDeepestNesting));
  }

  void close() {
    depth_ = std::max(0, depth_ - 1);
    if (header_) count_tables(dots_);
    dots_ = 0;
  }

  // The dots before '=' each make a table.
  void end_key() {
    count_tables(dots_);
    dots_ = 0;
    count_value();
  }

  void count_value() {
    if (++values_ > kMostValues) fail(fmt::format("more than {} values", kMostValues));
  }

  void count_dot() {
    if (++dots_ + depth_ > kDeepestNesting) fail(fmt::format("nested more than {} deep", kDeepestNesting));
  }

  void count_tables(int more) {
    tables_ += more;
    if (tables_ > kMostTables) fail(fmt::format("more than {} tables", kMostTables));
  }

  void skip_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  // A string ends at its quote or, if that is missing, at its line.
  void skip_string(char quote) {
    fresh_ = false;
    const std::string fence(3, quote);
    if (text_.substr(at_, 3) == fence) return skip_long_string(quote, fence);
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
      // A backslash escapes the next character in basic strings only.
      at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    at_ = std::min(at_, text_.size());
  }

  // A long string ends at three quotes; further quotes right after them belong to it.
  void skip_long_string(char quote, const std::string& fence) {
    at_ += 3;
    // Lines inside belong to this statement.
    ++depth_;
    while (at_ < text_.size() && text_.substr(at_, 3) != fence) {
      const bool escape =
          quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n';
      if (text_[at_] == '\n')
        ++at_, start_line();
      else
        at_ += escape ? 2 : 1;
    }
    --depth_;
    at_ = std::min(at_ + 3, text_.size());
    while (at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  void fail(std::string message) {
    if (!scan_.fault)
      scan_.fault = TextFault{{line_, static_cast<int>(at_ - line_begin_), 1}, std::move(message)};
  }

  std::string_view text_;
  std::size_t at_ = 0, line_begin_ = 0;
  int line_ = 0, statement_ = 1, depth_ = 0, dots_ = 0, tables_ = 0, values_ = 0;
  bool header_ = false, fresh_ = true;
  TextScan scan_;
};

}  // namespace

TextScan scan_text(std::string_view text) { return Scanner(text).run(); }

namespace {

/// Returns how many bytes at the beginning are whole words of ASCII: most texts have no other bytes, and
/// words are faster to test than bytes.
std::size_t ascii_words(std::string_view bytes) {
  constexpr std::uint64_t kBeyondAscii = 0x8080808080808080;
  std::uint64_t word = 0;
  std::size_t at = 0;
  for (; at + sizeof(word) <= bytes.size(); at += sizeof(word)) {
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    if ((word & kBeyondAscii) != 0) break;
  }
  return at;
}

}  // namespace

bool is_text(std::string_view bytes) {
  if (bytes.find('\0') != std::string_view::npos) return false;
  while (!bytes.empty()) {
    bytes.remove_prefix(ascii_words(bytes));
    if (bytes.empty()) break;
    // ASCII that is not a whole word is checked byte by byte.
    const std::size_t length = static_cast<unsigned char>(bytes.front()) < 0x80 ? 1 : utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

}  // namespace foretrain
