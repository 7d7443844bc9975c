// The commands of a shell script in the order of the text, with what is known of their words; nothing is ever
// run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/import/shell_values.hpp"

namespace foretrain {

/// A command and its words, without assignments, redirections and keywords.
struct ShellCommand {
  std::vector<ShellWord> words;
  bool certain = true;    ///< false: in a branch, and nobody knows whether its condition holds
  bool repeated = false;  ///< in a loop
  std::string here{};     ///< its here-document, with known values put in
  int here_line = 0;      ///< first line of it; 0: there is none
};

/// Reads `text`, whose first line is number `first_line`. Assignments change `values` as the script would, as
/// far as that is known: branches whose condition is known to be false are left out; after a branch that may
/// have been taken its variables are unknown.
std::vector<ShellCommand> read_commands(std::string_view text, ShellValues& values, int first_line = 1);

}  // namespace foretrain
