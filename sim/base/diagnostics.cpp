// Formatting and collection of diagnostics. Long lines are cut to a window around the caret, at the
// boundaries of characters. Characters that would act on a terminal are written as escapes.
#include "sim/base/diagnostics.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// Bytes of a line that are shown.
constexpr std::size_t kWindow = 100;
/// Longest line that is kept with a mistake, in bytes. A file of one long line is not copied for each of its
/// mistakes.
constexpr std::size_t kLongestQuoted = 1u << 20;
/// Longest file name that is shown, in bytes. The name of an option, with what follows it, counts too.
constexpr std::size_t kLongestShownFile = 400;
/// Largest number of bytes of a UTF-8 character after its first.
constexpr std::size_t kMostContinuations = 3;

/// Returns whether the byte continues a UTF-8 character.
bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Returns how many characters (UTF-8 code points) the text takes when it is printed.
std::size_t shown_width(std::string_view text) {
  const std::string shown = printable(text);
  return static_cast<std::size_t>(
      std::count_if(shown.begin(), shown.end(), [](char c) { return !continues_a_character(c); }));
}

/// Returns `at`, or the beginning of the character that `at` would cut in two. A long run of continuation
/// bytes is malformed and is cut anywhere.
std::size_t character_begin(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && at - begin < kMostContinuations && begin < text.size() &&
         continues_a_character(text[begin]))
    --begin;
  return begin < text.size() && continues_a_character(text[begin]) ? at : begin;
}

/// Returns `at`, or the end of the character that `at` would cut in two; at most the size of the text.
std::size_t character_end(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  const std::size_t most = std::min(text.size(), at + kMostContinuations);
  while (at < most && continues_a_character(text[at])) ++at;
  return at;
}

/// The part of a line that is shown. If the caret is far to the right, the part begins about half a window
/// before it, at a whole character.
struct Window {
  std::string_view text;
  /// The byte of `text` under which the caret stands; its size when the caret is beyond the line.
  std::size_t caret;
};

/// Returns the window of the line around `column`, a byte index from 0.
Window window_of(std::string_view line, std::size_t column) {
  column = std::min(column, line.size());
  const std::size_t begin = character_begin(line, column > kWindow * 3 / 4 ? column - kWindow / 2 : 0);
  const std::size_t end = std::max(column, character_begin(line, std::min(line.size(), begin + kWindow)));
  return {line.substr(begin, end - begin), column - begin};
}

/// Returns the quoted line and the line with the carets below it.
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
  // A hostile file can have a million mistakes, so the rest is dropped.
  if (found_.size() >= kMostDiagnostics) return;
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
