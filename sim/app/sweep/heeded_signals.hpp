// Ctrl-C and SIGTERM of a command that ends by itself when one has come.
#pragma once

#include <csignal>

namespace foretrain {

/// While it lives, the first Ctrl-C or SIGTERM is only noted, and a second one ends the program at once.
class HeededSignals {
 public:
  HeededSignals();
  ~HeededSignals();
  HeededSignals(const HeededSignals&) = delete;
  HeededSignals& operator=(const HeededSignals&) = delete;

 private:
  struct sigaction interrupt_ {
  }, terminate_{};
};

/// Whether one has come since the last HeededSignals began.
bool has_come_signal();

}  // namespace foretrain
