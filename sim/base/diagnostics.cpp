// Formatting and collecting diagnostics. Long lines are cut to a window around the caret; what would act on a
// terminal is written out.
#include "sim/base/diagnostics.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kWindow = 100;
constexpr std::size_t kLongestQuoted = 1u << 20;  ///< a file that is one line is not kept with each mistake
constexpr std::size_t kLongestShownFile = 400;    ///< or option, with what follows it
constexpr std::size_t kMostContinuations = 3;     ///< bytes of a character after its first (UTF-8)

bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// How many characters (UTF-8 code points) a text shows when it is printed.
std::size_t shown_width(std::string_view text) {
  const std::string shown = printable(text);
  return static_cast<std::size_t>(
      std::count_if(shown.begin(), shown.end(), [](char c) { return !continues_a_character(c); }));
}

/// The place itself, or where the character that it would cut in two begins; a long run of bytes that
/// continue nothing is cut anywhere.
std::size_t character_begin(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && at - begin < kMostContinuations && begin < text.size() &&
         continues_a_character(text[begin]))
    --begin;
  return begin < text.size() && continues_a_character(text[begin]) ? at : begin;
}

/// The same with the character's end; at most the text's.
std::size_t character_end(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  const std::size_t most = std::min(text.size(), at + kMostContinuations);
  while (at < most && continues_a_character(text[at])) ++at;
  return at;
}

/// The part of a line that is shown: whole characters from about half a window before the caret, if the caret
/// is far right.
struct Window {
  std::string_view text;
  std::size_t caret;  ///< byte of `text` the caret stands under; its size when that is beyond the line
};

Window window_of(std::string_view line, std::size_t column) {
  column = std::min(column, line.size());
  const std::size_t begin = character_begin(line, column > kWindow * 3 / 4 ? column - kWindow / 2 : 0);
  const std::size_t end = std::max(column, character_begin(line, std::min(line.size(), begin + kWindow)));
  return {line.substr(begin, end - begin), column - begin};
}

/// The quoted line and its caret line.
std::string quote(const Diagnostic& d) {
  const Window window = window_of(d.line_text, static_cast<std::size_t>(std::max(d.span.column, 1)) - 1);
  const std::size_t begin = character_begin(window.text, window.caret);
  const std::size_t end =
      character_end(window.text, window.caret + static_cast<std::size_t>(std::max(d.span.length, 1)));
  const std::string carets(std::max<std::size_t>(1, shown_width(window.text.substr(begin, end - begin))),
                           '^');
  const std::string number = std::to_string(d.span.line);
  return fmt::format("  {} | {}\n  {:{}} | {:{}}{}\n", number, printable(window.text), "", number.size(), "",
                     shown_width(window.text.substr(0, begin)), carets);
}

bool comes_before(const Diagnostic& a, const Diagnostic& b) {
  return std::tie(a.file, a.span.line, a.span.column) < std::tie(b.file, b.span.line, b.span.column);
}

}  // namespace

std::string_view SourceText::line(int number) const {
  if (number < 1) return {};
  std::size_t begin = 0;
  for (int i = 1; i < number; ++i) {
    const std::size_t newline = text.find('\n', begin);
    if (newline == std::string::npos) return {};
    begin = newline + 1;
  }
  std::string_view found = std::string_view(text).substr(begin, text.find('\n', begin) - begin);
  if (found.ends_with('\r')) found.remove_suffix(1);
  return found;
}

std::string format(const Diagnostic& d) {
  std::string out;
  if (!d.file.empty()) out += printable(shortened(d.file, kLongestShownFile)) + ":";
  if (d.span.line > 0) out += fmt::format("{}:{}:", d.span.line, std::max(d.span.column, 1));
  if (!out.empty()) out += " ";
  out += "error: " + printable(d.message) + "\n";
  if (d.span.line > 0 && !d.line_text.empty()) out += quote(d);
  if (!d.hint.empty()) out += "  hint: " + printable(d.hint) + "\n";
  return out;
}

std::string format(std::vector<Diagnostic> diagnostics) {
  std::stable_sort(diagnostics.begin(), diagnostics.end(), comes_before);
  std::string out;
  for (const Diagnostic& d : diagnostics) out += format(d);
  if (diagnostics.size() > 1) out += fmt::format("{} errors\n", diagnostics.size());
  return out;
}

InputError::InputError(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {
  std::stable_sort(diagnostics_.begin(), diagnostics_.end(), comes_before);
  text_ = format(diagnostics_);
}

InputError::InputError(std::string message, std::string hint)
    : InputError(std::vector<Diagnostic>{{"", {}, "", std::move(message), std::move(hint)}}) {}

std::string InputError::first_message() const {
  return diagnostics_.empty() ? text_ : diagnostics_.front().message;
}

void Diagnostics::report(SourceSpan span, std::string message, std::string hint) {
  if (found_.size() >= kMostDiagnostics) return;  // a hostile file has a million
  const std::string_view line = source_->line(span.line);
  include({{source_->name, span, std::string(line.size() > kLongestQuoted ? std::string_view() : line),
            std::move(message), std::move(hint)}});
}

void Diagnostics::include(const std::vector<Diagnostic>& others) {
  for (const Diagnostic& other : others) {
    const bool known = std::find(found_.begin(), found_.end(), other) != found_.end();
    if (!known && found_.size() < kMostDiagnostics) found_.push_back(other);
  }
}

void Diagnostics::throw_if_any() const {
  if (!found_.empty()) throw InputError(found_);
}

}  // namespace foretrain
