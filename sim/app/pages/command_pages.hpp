// The commands as pages: all of them as Markdown or as a manual page, or the help of one.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace foretrain {

/// A command with the words before it: "foretrain topology" for `show`; empty for the program itself.
struct CommandPlace {
  std::string parent;
  CLI::App* command;
  /// Returns all words of the command.
  std::string path() const;
};

/// Returns the program and all commands below it, outer commands first.
std::vector<CommandPlace> commands_of(CLI::App& app);

/// Returns docs/reference/commands.md. The app must not have parsed a line, else it shows the help of its
/// command.
std::string markdown_of(CLI::App& app);
/// The manual page foretrain(1), in man(7) macros.
std::string manual_of(CLI::App& app);
/// Returns the help of the command that the words name; without words, that of the program. Throws
/// CLI::ParseError when there is no such command.
std::string help_of(CLI::App& app, const std::vector<std::string>& words);

}  // namespace foretrain
