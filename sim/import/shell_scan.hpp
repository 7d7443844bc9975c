// A shell script cut into words and operators. Nothing is expanded here, and nothing is ever run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// A piece of a word. text: as it stands. variable: $NAME or ${NAME:-fallback}. arithmetic: $((…)). command:
/// $(…) or `…`.
struct WordPart {
  enum class Kind : std::uint8_t { text, variable, arithmetic, command };
  Kind kind = Kind::text;
  std::string text;           ///< characters, name, expression or command
  std::string fallback{};     ///< of ${NAME:-fallback}, unexpanded
  bool has_fallback = false;  ///< also for an empty one
  bool quoted = false;        ///< its value is not split into words
};

/// A word, an operator (newline ; ;; & && || | ( ) ), or the body of a here-document, which follows the line
/// of its command.
struct ShellToken {
  enum class Kind : std::uint8_t { word, op, here };
  Kind kind = Kind::word;
  std::string text{};             ///< of an operator; the body of a here-document
  std::vector<WordPart> parts{};  ///< of a word
  SourceSpan span{};
  bool quoted = false;  ///< a word with quotes or escapes is no keyword; a here-document with a quoted end is
                        ///< not expanded
};

/// Cuts `text`; its first line is number `first_line`. Whatever is unbalanced ends with the text. Cost is
/// linear in the text.
std::vector<ShellToken> scan_shell(std::string_view text, int first_line = 1);

/// Cuts what stands between double quotes, or in a here-document, into parts.
std::vector<WordPart> scan_quoted(std::string_view text);

/// Deepest nesting of $(…), (…) and quotes that is followed; what is deeper is taken as text.
inline constexpr int kDeepestShell = 32;

}  // namespace foretrain
