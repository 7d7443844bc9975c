// Ctrl-C and SIGTERM of a command that ends by itself when one has come.
#pragma once

#include <csignal>

namespace foretrain {

/// What a second signal does.
enum class SecondSignal {
  ends_program,  ///< at once
  is_noted       ///< nothing more: for work that ends soon and must end what it has started
};

/// While it lives, the first Ctrl-C or SIGTERM is only noted.
class HeededSignals {
 public:
  explicit HeededSignals(SecondSignal second = SecondSignal::ends_program);
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
