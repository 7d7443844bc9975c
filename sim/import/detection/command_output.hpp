// Runs a program of this machine without a shell and returns what it prints, bounded in time and size.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace foretrain {

/// Limits on a command that detection starts: wall-clock time, and bytes of its standard output.
struct CommandLimits {
  std::chrono::milliseconds time{10'000};
  std::size_t bytes = std::size_t{64} << 20;
};

/// The output of a command, or the reason why there is none.
struct CommandOutput {
  /// Standard output; empty whenever `problem` is set.
  std::string text;
  /// Reason in words, such as "is not here" or "needs more than 10 s"; empty when the command ended with
  /// status 0.
  std::string problem;
  /// False when no such program is on PATH.
  bool is_there = true;
};

/// Runs arguments[0], which is searched on PATH, with the other arguments as they are, and waits for its end.
/// Standard input and error are /dev/null. A command beyond its time or size is killed with all processes
/// that it started.
/// Throws nothing of its own; problems are in the result. Requires at least one argument.
CommandOutput command_output(const std::vector<std::string>& arguments, CommandLimits limits = {});

}  // namespace foretrain
