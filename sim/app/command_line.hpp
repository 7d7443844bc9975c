// The command line: all commands, their options and their help. No other code includes CLI11 for parsing.
#pragma once

#include <vector>

#include "sim/app/pages/completion.hpp"

namespace foretrain {

/// Parses the arguments and runs the command. Returns the exit code of the parse: 0 for help, version and
/// success, 2 for wrong usage. InputError (exit code 1) and EnvironmentError (exit code 3) of the commands
/// pass through.
int run_command_line(int argc, char** argv);

/// Returns every command with its options and the values they take, outer commands first. Completion uses it.
std::vector<CompletedCommand> described_commands();

}  // namespace foretrain
