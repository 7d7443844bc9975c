// What a program of the machine prints, without a shell, bounded in time and size.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace foretrain {

/// Limits on a command that detection starts: time and bytes of output.
struct CommandLimits {
  std::chrono::milliseconds time{10'000};
  std::size_t bytes = std::size_t{64} << 20;
};

/// What a command printed, or why it did not.
struct CommandOutput {
  std::string text;     ///< standard output
  std::string problem;  ///< "is not here", "needs more than 10 s"; empty: it ended well
  bool is_there = true;
};

/// The first argument is the program, looked for on PATH. Its standard input and error are closed to it; past
/// its time or size it is ended, with what it started.
CommandOutput command_output(const std::vector<std::string>& arguments, CommandLimits limits = {});

}  // namespace foretrain
