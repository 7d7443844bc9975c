// A command line carried out in a process of its own, with limits, and what became of it.
#pragma once

#include <string>
#include <vector>

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
/// the table in --help; a reason on standard error when it fails; time and memory within limits.
std::string broken_law(const RanCommand& ran, const CommandLimits& limits);

}  // namespace foretrain::test
