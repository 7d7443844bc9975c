// A command line carried out in a process of its own, with limits, and what became of it.
#pragma once

#include <string>
#include <vector>

#include "tests/command_lines/command_files.hpp"

namespace foretrain::test {

/// Limits that no command line may reach.
struct CommandLimits {
  int seconds = 5;           ///< of CPU
  long kilobytes = 1 << 20;  ///< of memory in use at once
};

struct RanCommand {
  int code = 0;    ///< exit code; of a signal 0
  int signal = 0;  ///< that ended it; 0: none
  double seconds = 0;
  long kilobytes = 0;
  std::string errors;  ///< the first kilobytes of standard error
};

/// Runs `foretrain ARGUMENTS` as a fork of this process, in the working folder. Standard output is thrown
/// away.
RanCommand run_command(const std::vector<std::string>& arguments, const CommandLimits& limits);

/// Which law of command lines the run breaks, in words; empty when it keeps all: no signal; an exit code of
/// the table in --help; a reason on standard error when it fails; time and memory within limits; no file
/// changed that it was not told to write, and none begun by a command that was a mistake.
/// A check writes its report of mistakes and ends with 1, as it should.
std::string broken_law(const std::vector<std::string>& arguments, const RanCommand& ran,
                       const CommandLimits& limits, const LeftBehind& left);
/// Whether it took more time than the limit: the one law of which findings are counted apart.
bool is_slow(const RanCommand& ran, const CommandLimits& limits);

}  // namespace foretrain::test
