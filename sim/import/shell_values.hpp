// This file holds what is known of a script's variables, and words in which the known ones are replaced.
// Commands are never run, so what they print is unknown. Unknown parts stay in the text as written, behind a
// mark; nothing is guessed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

// A shell script is cut into words and operators first; nothing is expanded at that stage.

/// A piece of a word.
/// text: characters as they stand. variable: $NAME or ${NAME:-fallback}. arithmetic: $((…)). command: $(…) or
/// `…`. elements: ${NAME[@]} or ${NAME[3]}. count: ${#NAME[@]}. list: the text between the parentheses of
/// NAME=(…).
struct WordPart {
  enum class Kind : std::uint8_t { text, variable, arithmetic, command, elements, count, list };
  Kind kind = Kind::text;
  /// Characters, name, expression, command or list, by kind.
  std::string text;
  /// Fallback of ${NAME:-fallback}, not expanded.
  std::string fallback{};
  /// True if there is a fallback, even an empty one.
  bool has_fallback = false;
  /// True if the value is not split into words.
  bool quoted = false;
  /// Index of elements: "@", "*" or an expression.
  std::string index{};
  /// True for a list whose parenthesis never closes.
  bool is_open = false;
};

/// A word, an operator (line end, ";", ";;", "&", "&&", "||", "|", "(" or ")"), or the body of a
/// here-document, which follows the line of its command.
struct ShellToken {
  enum class Kind : std::uint8_t { word, op, here };
  Kind kind = Kind::word;
  /// Operator, or body of a here-document.
  std::string text{};
  /// Parts of a word.
  std::vector<WordPart> parts{};
  SourceSpan span{};
  /// True for a word with quotes or escapes, which is no keyword, and for a here-document with a quoted end,
  /// which is not expanded.
  bool quoted = false;
};

/// Cuts a text into tokens; its first line has the number `first_line`. What is unbalanced ends with the
/// text. Time is linear in the text.
std::vector<ShellToken> scan_shell(std::string_view text, int first_line = 1);

/// Cuts the text between double quotes, or of a here-document, into parts.
std::vector<WordPart> scan_quoted(std::string_view text);

/// Deepest nesting of $(…), (…) and quotes that is followed; deeper text is taken as it stands.
inline constexpr int kDeepestShell = 32;

/// The mark before an expansion whose value is unknown, which is kept as written.
inline constexpr char kUnknown = '\x01';

/// The mark before each element in the value of an array.
inline constexpr char kElement = '\x02';

/// A word after expansion.
struct ShellWord {
  /// Text with unknown expansions as they were written, without marks.
  std::string text;
  /// True if no expansion in it was unknown.
  bool known = true;
  /// True if it held quotes or escapes, so that it is no keyword and no option.
  bool quoted = false;
  SourceSpan span{};
};

/// Says whether a text is one of some words.
bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words);

/// Longest value that is followed, and the characters that all expansions of a script may have together. They
/// keep short scripts from filling the memory.
inline constexpr std::size_t kLongestValue = 64u << 10, kMostExpanded = 8u << 20;

/// The shell variables of a script as far as they are known. Copies share one budget of expansions, so
/// scripts inside of scripts cannot multiply it.
class ShellValues {
 public:
  /// Sets a variable to a known value.
  void set(const std::string& name, std::string value) { values_[name] = std::move(value); }
  void set(const std::string& name, int value) { set(name, std::to_string(value)); }
  /// Makes a variable unknown from here on.
  void forget(const std::string& name);
  /// Returns the value of a variable; no value if it was never set, is unknown, or is an array.
  std::optional<std::string> find(const std::string& name) const;
  /// Returns the value as the script last set it, with marks where parts are unknown; nullptr if it never
  /// did.
  const std::string* raw(const std::string& name) const;

  /// GPUs of a node of the job, for commands that count them (nvidia-smi -L | wc -l); 0 when unknown.
  int gpus_on_node = 0;
  /// Nodes of the job, for commands that count different hosts; 0 when unknown.
  int nodes = 0;
  /// Place of an array whose parenthesis never closes; line 0 when there is none.
  SourceSpan open_list{};
  /// Lines in the batch system's file of hosts, one for each task; 0 when unknown.
  int host_lines = 0;

  /// Returns the value of parts as one text, with marks.
  std::string expand(const std::vector<WordPart>& parts, int depth = 0);
  /// Returns the words that the shell makes of a word: unquoted values are split at blanks.
  std::vector<ShellWord> expand_word(const ShellToken& word);
  /// Returns the value of an array from the text between the parentheses of NAME=(…).
  std::string expand_list(std::string_view text);
  /// Returns the value of an integer expression as in $(( a / b )). No value when a name or sign in it is
  /// unknown, on overflow, and on division by zero.
  std::optional<std::int64_t> evaluate(std::string_view expression, int depth = 0);

 private:
  /// The value of one part, with marks; `depth` counts nested expansions.
  std::string value_of(const WordPart& part, int depth);
  std::string value_of_command(const WordPart& part, int depth);
  std::string value_of_array(const WordPart& part, int depth);
  /// The words that one part of a word becomes.
  std::vector<std::string> pieces_of(const WordPart& part);
  std::vector<std::string> texts_of(const ShellToken& word);

  std::map<std::string, std::string> values_;
  /// Characters of all expansions so far.
  std::shared_ptr<std::size_t> expanded_ = std::make_shared<std::size_t>(0);
};

/// Says whether a text with marks has none for unknown parts. without_marks() returns the text without them.
inline bool is_known(std::string_view text) { return text.find(kUnknown) == std::string_view::npos; }
std::string without_marks(std::string_view text);

/// Returns the whole text as an integer; no value for other texts.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace foretrain
