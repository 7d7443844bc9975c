// Runs a command line to its exit code, with errors as messages.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// Runs the program with main()'s arguments. Returns 0 for success, 1 for wrong input, 2 for wrong usage, 3
/// for an environment error, 130 when interrupted. Never throws. Output and messages go where the thread's
/// output goes (held_output.hpp).
int run_program(int argc, char** argv);

/// The result of a held command: its exit code, and the texts that it would have printed.
struct HeldRun {
  int exit_code = 0;
  std::string output, messages;
};

/// Runs a command line, given without the program's name, and holds the thread's output in memory.
HeldRun run_held(const std::vector<std::string>& arguments);

}  // namespace foretrain
