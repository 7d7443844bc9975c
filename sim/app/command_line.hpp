// The command line: commands, options, help. The only door to CLI11.
#pragma once

namespace foretrain {

/// Parses the arguments and carries out the command. Returns the exit code of the parse (0 for --help and
/// success, 2 for wrong usage). Throws InputError and WorldError from the commands.
int run_command_line(int argc, char** argv);

}  // namespace foretrain
