// Mistakes in the user's input: where the mistake is, what it is, and how to correct it. Readers collect them
// and throw them all at once.
#pragma once

#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// A place in a text: line and column (in bytes) from 1, and the number of characters that the caret
/// underlines. Line 0 means the file as a whole.
struct SourceSpan {
  int line = 0;
  int column = 0;
  int length = 1;
  friend bool operator==(const SourceSpan&, const SourceSpan&) = default;
};

/// A named text that messages can quote.
struct SourceText {
  std::string name;
  std::string text;
  /// Number of lines that come from the file; later lines come from the command line.
  int file_lines = std::numeric_limits<int>::max();
  /// The part that is requested of a file that describes several; empty: not stated.
  std::string part{};
  /// Returns line `number`, from 1, without its newline; empty if there is no such line. O(size of the text).
  std::string_view line(int number) const;
};

/// A mistake. Diagnostics are ordered by file, line and column.
struct Diagnostic {
  std::string file;
  SourceSpan span;
  /// The quoted line; empty when the span has none.
  std::string line_text;
  std::string message;
  /// Advice on how to correct the mistake; may be empty.
  std::string hint;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// Returns "file:line:column: error: message", the line, a caret and "hint: …". Long lines are cut around the
/// caret. All of it is printable().
std::string format(const Diagnostic& diagnostic);
/// Returns all diagnostics, sorted and formatted, with a closing count if there are several.
std::string format(std::vector<Diagnostic> diagnostics);

/// The user's input is wrong (exit code 1). Carries all mistakes found.
class InputError : public std::exception {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  /// Makes an error for a mistake without a place in a file, such as one on the command line.
  explicit InputError(std::string message, std::string hint = "");
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  const char* what() const noexcept override { return text_.c_str(); }
  /// Returns the first mistake in one sentence, for places that cannot show more.
  std::string first_message() const;

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

/// An environment error: a file cannot be read or written, or memory is exhausted (exit code 3). Its text has
/// the path and the cause.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Collects the mistakes of one text, at most kMostDiagnostics of them. Refers to the text for its whole
/// life.
class Diagnostics {
 public:
  static constexpr std::size_t kMostDiagnostics = 50;
  explicit Diagnostics(const SourceText& source) : source_(&source) {}
  /// Adds a mistake at `span`, with the line quoted.
  void report(SourceSpan span, std::string message, std::string hint = "");
  bool empty() const { return found_.empty(); }
  const std::vector<Diagnostic>& found() const { return found_; }
  const SourceText& source() const { return *source_; }
  /// Adds mistakes that were found elsewhere, such as in a model file that a scenario names. Equal ones are
  /// kept once.
  void include(const std::vector<Diagnostic>& others);
  /// Throws InputError with all mistakes if there are any.
  void throw_if_any() const;

 private:
  const SourceText* source_;
  std::vector<Diagnostic> found_;
};

/// Calls `read` and returns its value. Throws InputError with all mistakes that `read` reported.
template <class Read>
auto read_or_throw(const SourceText& source, Read read) {
  Diagnostics diagnostics(source);
  auto value = read(source, diagnostics);
  diagnostics.throw_if_any();
  return value;
}

}  // namespace foretrain
