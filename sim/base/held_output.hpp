// Where what a command prints goes: to the process's standard streams, or to texts of whoever runs it.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// While one lives, it keeps what its thread prints: a process that runs commands itself has other uses for
/// its standard streams. They do not nest.
class HeldOutput {
 public:
  HeldOutput();
  ~HeldOutput();
  HeldOutput(const HeldOutput&) = delete;
  HeldOutput& operator=(const HeldOutput&) = delete;

  /// The one of this thread; nullptr: the standard streams are the command's.
  static HeldOutput* current();

  std::string output;    ///< of standard output
  std::string messages;  ///< of standard error
};

/// To standard error or the thread's HeldOutput. The text is printable_lines() already.
void write_message(std::string_view text);

/// Whether a stream is a terminal; none is while the thread's output is held.
bool is_terminal(int descriptor);

/// For a command that takes the whole process: throws EnvironmentError while the thread's output is held.
/// `command` is how it is called ("foretrain serve").
void need_own_process(std::string_view command);

}  // namespace foretrain
