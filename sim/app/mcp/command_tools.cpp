// Derives the tools of `foretrain mcp` from the declarations of the command line. An option whose value is a
// file becomes a parameter only when it is in a short list of options that read one.
#include "sim/app/mcp/command_tools.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "sim/app/command_line.hpp"
#include "sim/base/ascii.hpp"

namespace foretrain {

namespace {

// A tool: its name, the path of its command, whether the command writes JSON, and whether it takes files.
struct ToolRow {
  std::string_view name, path;  ///< "check", "job check"
  bool has_json = true, takes_files = true;
};
// The tools, in the order in which they are listed.
constexpr std::array<ToolRow, 6> kTools{{{"check", "job check"},
                                         {"predict", "predict"},
                                         {"compare", "compare"},
                                         {"plan", "plan"},
                                         {"explain", "explain"},
                                         {"topology", "topology show", false}}};

// Options that read a file and may be parameters.
constexpr std::array<std::string_view, 2> kReadFiles{"--settings", "--program"};
// Options that are no parameters: the protocol sets the format, and the others address a person at a
// terminal, or stores and files of this machine.
constexpr std::array<std::string_view, 12> kNoParameters{
    "--help",  "--help-all", "--format",  "--evidence", "--store",       "--add",
    "--quiet", "--brief",    "--options", "--details",  "--trace-steps", "--trace-ranks"};

/// Returns "every_gpu" for "--every-gpu" and "scenario" for "SCENARIO".
std::string parameter_name(std::string_view name) {
  std::string out = lower_case(std::string(name.substr(std::min(name.find_first_not_of('-'), name.size()))));
  std::ranges::replace(out, '-', '_');
  return out;
}

/// Returns the kind of value that the parameter takes.
McpValueKind kind_of(const std::string& option, const CompletedValue& value) {
  if (value.noun.empty()) return McpValueKind::flag;
  if (option == "--set") return McpValueKind::settings;
  if (value.is_repeated) return McpValueKind::repeated;
  if (value.is_list || value.noun == "LIST") return McpValueKind::list;
  return value.noun == "N" ? McpValueKind::integer : McpValueKind::text;
}

/// Returns true when the option may be offered to an assistant.
bool is_parameter(const std::string& option, const CompletedValue& value) {
  if (std::ranges::find(kNoParameters, option) != kNoParameters.end()) return false;
  const bool is_file = value.is_file && value.catalog.empty();
  return !is_file || std::ranges::find(kReadFiles, option) != kReadFiles.end();
}

/// Returns the tool of a command: its positional argument first, then its options.
McpTool tool_of(const ToolRow& row, const CompletedCommand& command) {
  McpTool tool{std::string(row.name), {}, command.description, {}, row.has_json, row.takes_files};
  // The path is cut at blanks into the words of the command.
  for (std::size_t from = 0; from < row.path.size();) {
    const std::size_t end = std::min(row.path.find(' ', from), row.path.size());
    tool.command.emplace_back(row.path.substr(from, end - from));
    from = end + 1;
  }
  if (const CompletedValue& argument = command.argument; !argument.noun.empty())
    tool.parameters.push_back({parameter_name(argument.noun),
                               "",
                               argument.meaning,
                               argument.is_repeated ? McpValueKind::repeated : McpValueKind::text,
                               {},
                               argument.is_required});
  for (const CompletedOption& option : command.options) {
    const std::string& name = option.names.back();
    if (is_parameter(name, option.value))
      tool.parameters.push_back(
          {parameter_name(name), name, option.value.meaning, kind_of(name, option.value),
           option.value.has_more_choices ? std::vector<std::string>{} : option.value.choices,
           option.value.is_required});
  }
  return tool;
}

}  // namespace

// A command that this build does not have is left out.
std::vector<McpTool> command_tools() {
  const std::vector<CompletedCommand> commands = described_commands();
  std::vector<McpTool> tools;
  for (const ToolRow& row : kTools) {
    const auto found = std::ranges::find(commands, row.path, &CompletedCommand::path);
    if (found != commands.end()) tools.push_back(tool_of(row, *found));
  }
  return tools;
}

}  // namespace foretrain
