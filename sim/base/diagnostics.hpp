// Mistakes in the user's input: where, what, how to mend it; collected, then thrown all at once.
#pragma once

#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// A place in a text: 1-based line and column (bytes), and how many characters the caret underlines. Line 0 =
/// the file as a whole.
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
  int file_lines = std::numeric_limits<int>::max();  ///< lines behind these come from the command line
  std::string part{};  ///< what is asked for of a file that describes several; empty: not said
  /// The line without its newline; empty when there is no such line.
  std::string_view line(int number) const;
};

/// One mistake. Ordered by file, line, column.
struct Diagnostic {
  std::string file;
  SourceSpan span;
  std::string line_text;  ///< the quoted line; empty when the span has none
  std::string message;
  std::string hint;  ///< may be empty
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// "file:line:column: error: message", the line, a caret, "hint: …"; long lines are cut around the caret. All
/// of it as printable().
std::string format(const Diagnostic& diagnostic);
/// All of them, sorted, each formatted, with a closing count when there is more than one.
std::string format(std::vector<Diagnostic> diagnostics);

/// The user's input is wrong (exit code 1). Carries every mistake found.
class InputError : public std::exception {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  /// A mistake without a place in a file, say on the command line.
  explicit InputError(std::string message, std::string hint = "");
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  const char* what() const noexcept override { return text_.c_str(); }
  /// The first mistake in one sentence, where there is no room for more.
  std::string first_message() const;

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

/// Environment error: a file cannot be read or written, memory is out (exit code 3). Says path and cause.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Collects the mistakes of one text; keeps at most `kMostDiagnostics`.
class Diagnostics {
 public:
  static constexpr std::size_t kMostDiagnostics = 50;
  explicit Diagnostics(const SourceText& source) : source_(&source) {}
  void report(SourceSpan span, std::string message, std::string hint = "");
  bool empty() const { return found_.empty(); }
  const std::vector<Diagnostic>& found() const { return found_; }
  const SourceText& source() const { return *source_; }
  /// Takes over mistakes found elsewhere (a model file read on behalf of a scenario).
  void include(const std::vector<Diagnostic>& others);
  void throw_if_any() const;

 private:
  const SourceText* source_;
  std::vector<Diagnostic> found_;
};

/// What `read` makes of the text; throws InputError with every mistake in it.
template <class Read>
auto read_or_throw(const SourceText& source, Read read) {
  Diagnostics diagnostics(source);
  auto value = read(source, diagnostics);
  diagnostics.throw_if_any();
  return value;
}

}  // namespace foretrain
