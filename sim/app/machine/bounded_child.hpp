// Runs a program with a time limit, and ends it together with every process that it started.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace foretrain {

/// A program to start, with its limit of time and the file of its output.
struct ChildCommand {
  /// The program, which is searched on PATH, and its arguments.
  std::vector<std::string> words;
  /// Working folder of the program.
  std::string folder;
  /// File of its standard output and error; an existing one is replaced.
  std::string output;
  /// Time after which the program is ended.
  std::chrono::duration<double> time{};
};

/// The end of a program.
struct ChildEnd {
  enum class Kind {
    /// It ended with exit code 0.
    well,
    /// It ended with another exit code, or by a signal from elsewhere.
    badly,
    /// It was ended at its time limit.
    time_over,
    /// The program could not be started.
    not_there,
    /// It was ended because a signal came for this process (has_come_signal()).
    interrupted
  };
  Kind kind = Kind::well;
  /// "exit code 1" or "SIGKILL" for `badly`; for `not_there`: the system's message.
  std::string how;
  /// Last line of an error at the end of the output, or else the last line.
  std::string last;
};

/// Runs the program and waits for its end. At the time limit, or when a signal has come for HeededSignals,
/// the group gets SIGTERM and later SIGKILL. The program is also killed when this process dies. Throws
/// EnvironmentError when the output cannot be opened or no process can be made.
ChildEnd run_bounded(const ChildCommand& command);

}  // namespace foretrain
