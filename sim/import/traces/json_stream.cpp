// Reads JSON by recursive descent. The caller's own functions nest as deep as they ask; where values are
// skipped, the depth is bounded by kDeepest.
//
// Invariant: `piece_[at_]` is the next byte; line_ and column_ are its place. Bytes come in pieces from
// TraceBytes, and a piece is dropped when the next one comes.
#include "sim/import/traces/json_stream.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// White space of JSON.
bool is_blank_sign(int c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// Signs that a number may have; the number itself is checked by std::from_chars.
bool is_of_number(int c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

bool is_of_word(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Returns the value of a hexadecimal digit, -1 for other characters.
int hex_value(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Returns "12.345678" as 12345 thousandths, cut and not rounded. Nothing for a number with an exponent, or
/// when 64 bits do not hold it. Times in microseconds become whole nanoseconds so, without the loss of a
/// double.
std::optional<std::int64_t> thousandths_of(std::string_view text) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 10 - 1;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::int64_t value = 0;
  int decimals = -1;  // behind the point
  for (const char c : text) {
    if (c == '.') {
      decimals = 0;
      continue;
    }
    if (c < '0' || c > '9' || value > kMost) return std::nullopt;
    if (decimals < 3) value = value * 10 + (c - '0');
    if (decimals >= 0) ++decimals;
  }
  // Missing decimals are zeros.
  for (int i = std::max(decimals, 0); i < 3; ++i) {
    if (value > kMost) return std::nullopt;
    value *= 10;
  }
  return negative ? -value : value;
}

}  // namespace

/// The line is quoted only where its begin is still in the piece at hand.
void JsonStream::refuse(std::string message, std::string hint) {
  std::string quoted;
  if (has_line_) {
    quoted = std::string(piece_.substr(line_begin_, 2000));
    quoted = quoted.substr(0, quoted.find('\n'));
    if (static_cast<int>(quoted.size()) < column_ - 1) quoted.clear();
  }
  throw InputError(
      std::vector<Diagnostic>{{bytes_.name(), place(), quoted, std::move(message), std::move(hint)}});
}

/// Reports what should stand at this place; an end of file is a case of its own, as traces are often cut.
void JsonStream::refuse_here(int found, std::string_view wanted) {
  if (found < 0)
    refuse(fmt::format("the file ends where {} should stand", wanted),
           "it was cut short: let the program end before the trace is copied");
  refuse(fmt::format("this is not JSON: {} should stand here", wanted));
}

/// Returns the next byte without taking it, and fetches the next piece where one is used up.
int JsonStream::peek() {
  if (at_ == piece_.size()) {
    if (at_end_) return -1;
    piece_ = bytes_.next();
    at_ = 0;
    has_line_ = column_ == 1;
    line_begin_ = 0;
    at_end_ = piece_.empty();
    if (at_end_) return -1;
  }
  return static_cast<unsigned char>(piece_[at_]);
}

/// Takes a byte and moves the place.
int JsonStream::take() {
  const int c = peek();
  if (c < 0) return c;
  ++at_;
  if (c == '\n') {
    ++line_;
    column_ = 1;
    line_begin_ = at_;
    has_line_ = true;
  } else if (column_ < std::numeric_limits<int>::max()) {
    ++column_;
  }
  return c;
}

/// Skips white space and returns the next byte.
int JsonStream::behind_blanks() {
  while (is_blank_sign(peek())) take();
  return peek();
}

JsonKind JsonStream::kind() {
  const int c = behind_blanks();
  if (c == '{') return JsonKind::object;
  if (c == '[') return JsonKind::array;
  if (c == '"') return JsonKind::string;
  if (c == '-' || (c >= '0' && c <= '9')) return JsonKind::number;
  if (is_of_word(c)) return JsonKind::word;
  refuse_here(c, "a value");
}

/// Opens an object or a list and counts the depth.
void JsonStream::open(char bracket) {
  if (const int c = behind_blanks(); c != bracket)
    refuse_here(c, bracket == '{' ? "an object in braces" : "a list in brackets");
  if (depth_ == kDeepest) refuse(fmt::format("is nested deeper than {} levels, as no trace is", kDeepest));
  take();
  ++depth_;
}

/// Returns whether another member follows, and takes the comma or the closing bracket.
bool JsonStream::another(char closing, bool first) {
  const int c = behind_blanks();
  if (c == closing) {
    take();
    --depth_;
    return false;
  }
  if (first) return true;
  if (c != ',') refuse_here(c, fmt::format("a comma or '{}'", closing));
  take();
  return true;
}

/// Returns a key; the colon behind it is taken, too.
const std::string& JsonStream::key() {
  if (const int c = behind_blanks(); c != '"') refuse_here(c, "a key in quotation marks");
  read_string(&text_);
  if (const int c = behind_blanks(); c != ':') refuse_here(c, "a colon");
  take();
  return text_;
}

/// Adds a byte to a string unless it is skipped; refuses strings that are too long.
void JsonStream::put(std::string* into, char c) {
  if (into == nullptr) return;
  if (into->size() == kLongestString)
    refuse(fmt::format("holds a string above {} MiB", kLongestString >> 20), "is it a trace?");
  into->push_back(c);
}

std::uint32_t JsonStream::four_digits() {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const int c = peek();
    const int digit = hex_value(c);
    if (digit < 0) refuse_here(c, "a hexadecimal digit");
    take();
    value = value * 16 + static_cast<std::uint32_t>(digit);
  }
  return value;
}

// Reads an escape. A code point outside of the first plane comes as two escapes; each becomes three bytes,
// which is enough for names.
void JsonStream::read_escape(std::string* into) {
  const int c = peek();
  constexpr std::string_view kShort = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
  const std::size_t row = c < 0 ? std::string_view::npos : kShort.find(static_cast<char>(c));
  if (row != std::string_view::npos) {
    take();
    return put(into, kMeant[row]);
  }
  if (c != 'u') refuse_here(c, "an escape such as \\n");
  take();
  const std::uint32_t code = four_digits();
  // UTF-8 of one, two or three bytes.
  if (code < 0x80) return put(into, static_cast<char>(code));
  if (code >= 0x800) put(into, static_cast<char>(0xE0 | (code >> 12)));
  put(into, static_cast<char>(code >= 0x800 ? 0x80 | ((code >> 6) & 0x3F) : 0xC0 | (code >> 6)));
  put(into, static_cast<char>(0x80 | (code & 0x3F)));
}

/// Reads a string into `into`, or past it where that is nullptr.
void JsonStream::read_string(std::string* into) {
  if (into != nullptr) into->clear();
  take();
  while (true) {
    const int c = peek();
    if (c < 0) refuse_here(c, "the end of a string");
    take();
    if (c == '"') return;
    if (c == '\\')
      read_escape(into);
    else
      put(into, static_cast<char>(c));
  }
}

const std::string& JsonStream::string() {
  if (const int c = behind_blanks(); c != '"') refuse_here(c, "a string");
  read_string(&text_);
  return text_;
}

JsonNumber JsonStream::number() {
  behind_blanks();
  number_.clear();
  while (is_of_number(peek())) {
    if (number_.size() == kLongestNumber)
      refuse(fmt::format("holds a number of more than {} signs", kLongestNumber));
    number_.push_back(static_cast<char>(take()));
  }
  JsonNumber out;
  const auto [end, error] = std::from_chars(number_.data(), number_.data() + number_.size(), out.value);
  if (end != number_.data() + number_.size() || error == std::errc::invalid_argument)
    refuse_here(number_.empty() ? peek() : 0, "a number");
  // A number beyond the range of a double is infinite; callers clamp it.
  if (error == std::errc::result_out_of_range) out.value = std::numeric_limits<double>::infinity();
  out.thousandths = thousandths_of(number_);
  return out;
}

std::string_view JsonStream::word() {
  behind_blanks();
  word_.clear();
  while (is_of_word(peek()) && word_.size() < 10) word_.push_back(static_cast<char>(take()));
  // Python's json module writes NaN and Infinity for numbers that are none.
  for (const std::string_view known : {"true", "false", "null", "NaN", "Infinity"}) {
    if (word_ == known) return word_;
  }
  refuse_here(word_.empty() ? peek() : 0, "a value");
}

/// Skips one value of any kind, checking that it is JSON.
void JsonStream::skip() {
  switch (kind()) {
    case JsonKind::object:
      return object([this](std::string_view) { skip(); });
    case JsonKind::array:
      return array([this] { skip(); });
    case JsonKind::string:
      return read_string(nullptr);
    case JsonKind::number:
      number();
      return;
    case JsonKind::word:
      word();
      return;
  }
}

void JsonStream::finish() {
  if (const int c = behind_blanks(); c >= 0) refuse_here(c, "the end of the file");
}

}  // namespace foretrain
