// Commands as tools of the Model Context Protocol: the parameters of a tool, and a client's call as a command
// line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/report/workshop/question.hpp"

namespace foretrain {

/// Decides how the value of a parameter becomes words of a command line.
enum class McpValueKind : std::uint8_t {
  flag,
  integer,
  text,
  /// A single value of the option, joined by commas.
  list,
  /// The option once for each value.
  repeated,
  /// An object of keys and values: the option once for each, as KEY=VALUE.
  settings,
};

/// A parameter of a tool, which comes from the declaration of an option or a positional argument.
struct McpParameter {
  /// Name of the parameter, such as "every_gpu".
  std::string name;
  /// Option, such as "--every-gpu"; empty: a positional argument.
  std::string option;
  std::string meaning;
  McpValueKind kind = McpValueKind::text;
  std::vector<std::string> choices{};
  bool is_required = false;
};

/// A command that a client may call.
struct McpTool {
  /// Name of the tool, such as "check".
  std::string name;
  /// Words of the command, such as {"job", "check"}.
  std::vector<std::string> command;
  std::string summary;
  std::vector<McpParameter> parameters{};
  /// True when the command has --format json.
  bool has_json = true;
  /// True when values may name files, whose texts come with the call.
  bool takes_files = true;
};

/// A client's call of a tool.
struct McpCall {
  const McpTool* tool = nullptr;
  /// The command line without the program's name and without a format.
  std::vector<std::string> words;
  /// Files that the words may name.
  std::vector<SourceText> files;
};

/// Limits of a call: files and characters of a word as in a question of `serve`, and words of the command
/// line.
inline constexpr std::size_t kMostMcpFiles = kMostQuestionFiles, kLongestMcpWord = kLongestQuestionArgument;
inline constexpr std::size_t kMostMcpWords = 128;

}  // namespace foretrain
