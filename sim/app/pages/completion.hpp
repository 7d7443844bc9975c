// Completion scripts for shells, from the tables of the command line: commands, options, and the names of the
// catalogs, which a script asks the program for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace foretrain {

/// What can stand in the place of an option's value or of an argument.
struct CompletedValue {
  std::string noun;                  ///< "FORMAT", "N"; empty: an option without a value
  std::vector<std::string> choices;  ///< names that are known here
  bool has_more_choices = false;     ///< the help names some of them
  std::string catalog;               ///< what `foretrain list` knows; empty: no catalog
  bool is_file = false;              ///< also any file
  bool is_list = false;              ///< several, with commas
  bool is_repeated = false;          ///< several, each by itself
  bool is_required = false;
  std::string meaning;  ///< all that the help says
};

/// An option that shells complete.
struct CompletedOption {
  std::vector<std::string> names;  ///< with dashes
  std::string summary;
  CompletedValue value;
};

/// A command that shells complete, with its options.
struct CompletedCommand {
  std::string path;                   ///< "topology show"; empty for the program
  std::string summary, description;   ///< a line, and all of it
  std::vector<std::string> commands;  ///< below it
  std::vector<CompletedOption> options;
  CompletedValue argument;  ///< without a noun: it takes none
};

/// Of an app that has parsed nothing; outer commands first.
std::vector<CompletedCommand> completed_commands(CLI::App& app);

/// bash, zsh, fish.
std::vector<std::string> completed_shells();  // shells.cpp
/// The script of one of them.
std::string completion_for(std::string_view shell,
                           const std::vector<CompletedCommand>& commands);  // shells.cpp

}  // namespace foretrain
