// A command line carried out to its exit code, with what went wrong as sentences.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// 0 ok, 1 wrong input, 2 wrong usage, 3 environment error, 130 interrupted. Never throws. Results and
/// sentences go where the thread's output goes (held_output.hpp).
int run_program(int argc, char** argv);

/// What a command came to, and the texts that it would have printed.
struct HeldRun {
  int exit_code = 0;
  std::string output, messages;
};

/// A command line without the program's name, with the thread's output held.
HeldRun run_held(const std::vector<std::string>& arguments);

}  // namespace foretrain
