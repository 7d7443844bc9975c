// The commands as pages: all of them in Markdown or as a manual page, or the help of one.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace foretrain {

/// A command and the words before it: "foretrain topology" for `show`; empty for the program itself.
struct CommandPlace {
  std::string parent;
  CLI::App* command;
  std::string path() const;
};

/// The program and all commands below it, outer ones first.
std::vector<CommandPlace> commands_of(CLI::App& app);

/// Of an app that has parsed nothing: one that has shows the help of the command it chose.
std::string markdown_of(CLI::App& app);
/// The manual page foretrain(1), in man(7) macros.
std::string manual_of(CLI::App& app);
/// The help of the command that the words name, none of them for the program itself. Throws CLI::ParseError
/// when there is no such command.
std::string help_of(CLI::App& app, const std::vector<std::string>& words);

}  // namespace foretrain
