// Commands as tools of the Model Context Protocol: what a tool takes, as JSON Schema, and what a client gave
// it, as a command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// How the value of a parameter becomes words of a command line.
enum class McpValueKind : std::uint8_t {
  flag,
  integer,
  text,
  list,      ///< one value of the option, with commas
  repeated,  ///< the option once for each
  settings,  ///< keys with values: the option once for each, as KEY=VALUE
};

/// A parameter of a tool, from the declaration of an option or a positional argument.
struct McpParameter {
  std::string name;    ///< "every_gpu"
  std::string option;  ///< "--every-gpu"; empty: a positional argument
  std::string meaning;
  McpValueKind kind = McpValueKind::text;
  std::vector<std::string> choices{};
  bool is_required = false;
};

/// A command that a client may call, as the protocol's list of tools describes it.
struct McpTool {
  std::string name;                  ///< "check"
  std::vector<std::string> command;  ///< {"job", "check"}
  std::string summary;
  std::vector<McpParameter> parameters{};
  bool has_json = true;     ///< whether the command has --format json
  bool takes_files = true;  ///< whether a value may name a file, whose text comes along
};

/// What a client asks a tool.
struct McpCall {
  const McpTool* tool = nullptr;
  std::vector<std::string> words;  ///< the command line, without a format
  std::vector<SourceText> files;   ///< that the words may name
};

/// The limits of a call are those of a question of `serve` (workshop/question.hpp).
inline constexpr std::size_t kMostMcpFiles = 16, kMostMcpWords = 128, kLongestMcpWord = 4096;

}  // namespace foretrain
