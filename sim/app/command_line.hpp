// The command line: commands, options, help. The only door to CLI11.
#pragma once

#include <vector>

#include "sim/app/pages/completion.hpp"

namespace foretrain {

/// Parses the arguments and carries out the command. Returns the exit code of the parse (0 for --help and
/// success, 2 for wrong usage). Throws InputError and EnvironmentError from the commands.
int run_command_line(int argc, char** argv);

/// Every command with its options and what their values may be, outer commands first.
std::vector<CompletedCommand> described_commands();

}  // namespace foretrain
