// The destination of a command's output: the standard streams of the process, or texts of the caller.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// While an object of this class lives, it collects what its thread prints. A process that runs commands
/// itself needs it, because it uses its standard streams for other purposes. Objects of one thread do not
/// nest.
class HeldOutput {
 public:
  HeldOutput();
  ~HeldOutput();
  HeldOutput(const HeldOutput&) = delete;
  HeldOutput& operator=(const HeldOutput&) = delete;

  /// Returns the object of this thread; nullptr means that the command may use the standard streams.
  static HeldOutput* current();

  /// Text for standard output.
  std::string output;
  /// Text for standard error.
  std::string messages;
};

/// Writes to standard error, or to the thread's HeldOutput. Requires that the text is printable_lines()
/// already.
void write_message(std::string_view text);

/// Returns whether the descriptor is a terminal; false while the thread's output is held.
bool is_terminal(int descriptor);

/// Throws EnvironmentError while the thread's output is held: for a command that takes the whole process.
/// `command` is its name in the message ("foretrain serve").
void need_own_process(std::string_view command);

}  // namespace foretrain
