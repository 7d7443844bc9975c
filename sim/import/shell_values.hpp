// What is known of a script's variables, and words with the known ones put in. Commands are never run: what
// they print is unknown.
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

// A shell script cut into words and operators. Nothing is expanded here, and nothing is ever run.

/// A piece of a word. text: as it stands. variable: $NAME or ${NAME:-fallback}. arithmetic: $((…)). command:
/// $(…) or `…`. elements: ${NAME[@]} or ${NAME[3]}. count: ${#NAME[@]}. list: what stands between the
/// parentheses of NAME=(…).
struct WordPart {
  enum class Kind : std::uint8_t { text, variable, arithmetic, command, elements, count, list };
  Kind kind = Kind::text;
  std::string text;           ///< characters, name, expression, command or list
  std::string fallback{};     ///< of ${NAME:-fallback}, unexpanded
  bool has_fallback = false;  ///< also for an empty one
  bool quoted = false;        ///< its value is not split into words
  std::string index{};        ///< of elements: "@", "*" or an expression
  bool is_open = false;       ///< of a list: its parenthesis never closes
};

/// A word, an operator (newline ; ;; & && || | ( ) ), or the body of a here-document, which follows the line
/// of its command.
struct ShellToken {
  enum class Kind : std::uint8_t { word, op, here };
  Kind kind = Kind::word;
  std::string text{};             ///< of an operator; the body of a here-document
  std::vector<WordPart> parts{};  ///< of a word
  SourceSpan span{};
  /// A word with quotes or escapes is no keyword; a here-document with a quoted end is not expanded
  bool quoted = false;
};

/// Cuts `text`; its first line is number `first_line`. Whatever is unbalanced ends with the text. Cost is
/// linear in the text.
std::vector<ShellToken> scan_shell(std::string_view text, int first_line = 1);

/// Cuts what stands between double quotes, or in a here-document, into parts.
std::vector<WordPart> scan_quoted(std::string_view text);

/// Deepest nesting of $(…), (…) and quotes that is followed; what is deeper is taken as text.
inline constexpr int kDeepestShell = 32;

/// Stands before an expansion whose value is unknown, which is then kept as it was written.
inline constexpr char kUnknown = '\x01';

/// Stands before each element in the value of an array.
inline constexpr char kElement = '\x02';

/// A word after expansion.
struct ShellWord {
  std::string text;     ///< unknown expansions as they were written, without marks
  bool known = true;    ///< whether no expansion in it was unknown
  bool quoted = false;  ///< held quotes or escapes: no keyword, no option of ours
  SourceSpan span{};
};

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words);

/// Longest value that is followed, and how many characters of expansions a script may have altogether.
inline constexpr std::size_t kLongestValue = 64u << 10, kMostExpanded = 8u << 20;

/// The shell variables of a script as far as they are known. Unknown parts are marked and never guessed.
class ShellValues {
 public:
  void set(const std::string& name, std::string value) { values_[name] = std::move(value); }
  void set(const std::string& name, int value) { set(name, std::to_string(value)); }
  /// From here on nothing is known of it.
  void forget(const std::string& name);
  /// Nothing for a variable that was never set, was set to what is unknown, or is an array.
  std::optional<std::string> find(const std::string& name) const;
  /// As the script last set it, with marks where parts are unknown; nothing when it never did.
  const std::string* raw(const std::string& name) const;

  /// How many GPUs a node of the job has, for commands that count them (nvidia-smi -L | wc -l); 0: unknown.
  int gpus_on_node = 0;
  int nodes = 0;           ///< of the job, for commands that count different hosts; 0: unknown
  SourceSpan open_list{};  ///< of an array whose parenthesis never closes; line 0: there is none
  int host_lines = 0;      ///< of the batch system's file of hosts, which has one for every task; 0: unknown

  /// Characters with marks.
  std::string expand(const std::vector<WordPart>& parts, int depth = 0);
  /// Into as many words as the shell makes of it: unquoted values are split at blanks.
  std::vector<ShellWord> expand_word(const ShellToken& word);
  /// The value of an array, from the text between the parentheses of NAME=(…).
  std::string expand_list(std::string_view text);
  /// A sum of integers as in $(( a / b )); nothing when a name or sign in it is unknown, or on division by
  /// zero.
  std::optional<std::int64_t> evaluate(std::string_view expression, int depth = 0);

 private:
  std::string value_of(const WordPart& part, int depth);
  std::string value_of_command(const WordPart& part, int depth);
  std::string value_of_array(const WordPart& part, int depth);
  std::vector<std::string> pieces_of(const WordPart& part);
  std::vector<std::string> texts_of(const ShellToken& word);

  std::map<std::string, std::string> values_;
  /// Shared by copies, so that scripts inside scripts have no budget of their own.
  std::shared_ptr<std::size_t> expanded_ = std::make_shared<std::size_t>(0);
};

/// Whether a text with marks has none; and the text without them.
inline bool is_known(std::string_view text) { return text.find(kUnknown) == std::string_view::npos; }
std::string without_marks(std::string_view text);

/// All of it as an integer.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace foretrain
