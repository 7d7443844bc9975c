// Notes Ctrl-C and SIGTERM for commands that end by themselves when a signal has come.
#pragma once

#include <csignal>

namespace foretrain {

/// Effect of a second signal.
enum class SecondSignal {
  /// The program ends at once.
  ends_program,
  /// It is noted like the first: for work that ends soon and must first end processes that it has started.
  is_noted
};

/// An object notes Ctrl-C and SIGTERM for its lifetime, and does nothing else with them. The earlier handlers
/// are restored at the end.
class HeededSignals {
 public:
  explicit HeededSignals(SecondSignal second = SecondSignal::ends_program);
  ~HeededSignals();
  HeededSignals(const HeededSignals&) = delete;
  HeededSignals& operator=(const HeededSignals&) = delete;

 private:
  // The earlier handlers.
  struct sigaction interrupt_ {
  }, terminate_{};
};

/// Returns true when a signal has come since the last HeededSignals was made.
bool has_come_signal();

}  // namespace foretrain
