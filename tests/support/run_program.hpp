// Runs a command line as a user would type it, for tests of the whole program.
#pragma once

#include <string>

namespace foretrain::test {

struct ProgramRun {
  int exit_code = 0;   ///< 128 + signal when a signal ended it
  std::string output;  ///< standard output and standard error, as they came
};

/// Runs `line` with /bin/sh in `folder`; `binary` is what the word foretrain stands for. Standard input is
/// empty. Throws std::runtime_error when no shell can be started.
ProgramRun run_program(const std::string& line, const std::string& folder, const std::string& binary);

}  // namespace foretrain::test
