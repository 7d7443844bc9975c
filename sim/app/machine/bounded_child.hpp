// A program with a time limit, in a process group of its own, that ends with everything it started.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace foretrain {

/// A program to start, with limits on its time and output.
struct ChildCommand {
  std::vector<std::string> words;        ///< the first is the program, looked for on PATH
  std::string folder;                    ///< where it runs
  std::string output;                    ///< file of its standard output and error, made anew
  std::chrono::duration<double> time{};  ///< after which it is ended
};

/// How a program ended.
struct ChildEnd {
  enum class Kind {
    well,        ///< with exit code 0
    badly,       ///< with another exit code, or by a signal that was not ours
    time_over,   ///< we ended it
    not_there,   ///< there is no such program
    interrupted  ///< a signal came for us (has_come_signal()); we ended it
  };
  Kind kind = Kind::well;
  std::string how;   ///< badly: "exit code 1", "SIGKILL"; not_there: the system's words
  std::string last;  ///< of the end of what it printed the last line of an error, else the last line
};

/// Waits for the end. Past its time, and when a signal has come for a HeededSignals, the group gets SIGTERM,
/// then SIGKILL. The program is also killed when this process dies. Throws EnvironmentError where the output
/// cannot be opened or no process is left.
ChildEnd run_bounded(const ChildCommand& command);

}  // namespace foretrain
