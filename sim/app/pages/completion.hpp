// Completion scripts for shells, from the tables of the command line. Scripts ask the program for the names
// of a catalog.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace foretrain {

/// A value that may stand as an option's value or as an argument.
struct CompletedValue {
  /// Noun of the help, such as "FORMAT" or "N"; empty: the option takes no value.
  std::string noun;
  /// Names that are known when the script is written.
  std::vector<std::string> choices;
  /// True when the help lists only some of the names.
  bool has_more_choices = false;
  /// Catalog that `foretrain list` knows; empty: none.
  std::string catalog;
  /// True when any file is allowed as well.
  bool is_file = false;
  /// True for several values separated by commas.
  bool is_list = false;
  /// True for several values, each a word of its own.
  bool is_repeated = false;
  bool is_required = false;
  /// The complete help text.
  std::string meaning;
};

/// An option that shells complete.
struct CompletedOption {
  /// Names with their dashes.
  std::vector<std::string> names;
  std::string summary;
  CompletedValue value;
};

/// A command that shells complete, with its options.
struct CompletedCommand {
  /// Words of the command, such as "topology show"; empty for the program itself.
  std::string path;
  /// The first line of the help, and its whole text.
  std::string summary, description;
  /// Names of the commands below.
  std::vector<std::string> commands;
  std::vector<CompletedOption> options;
  /// The positional argument; without a noun the command takes none.
  CompletedValue argument;
};

/// Returns all commands, outer ones first. The app must not have parsed a line.
std::vector<CompletedCommand> completed_commands(CLI::App& app);

/// Returns the shells with a script: bash, zsh, fish.
std::vector<std::string> completed_shells();  // shells.cpp
/// Returns the completion script of a shell of completed_shells().
std::string completion_for(std::string_view shell,
                           const std::vector<CompletedCommand>& commands);  // shells.cpp

}  // namespace foretrain
