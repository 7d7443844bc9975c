// Notes SIGINT and SIGTERM in a flag. A signal handler may do little more, and the flag must be a global
// variable for it to be reachable.
#include "sim/app/sweep/heeded_signals.hpp"

namespace foretrain {

namespace {

volatile std::sig_atomic_t came_signal = 0;
void note_signal(int) { came_signal = 1; }

}  // namespace

HeededSignals::HeededSignals(SecondSignal second) {
  came_signal = 0;
  struct sigaction heed {};
  heed.sa_handler = note_signal;
  // With SA_RESETHAND the default action is restored after the first signal, so that a second one ends the
  // program.
  heed.sa_flags = second == SecondSignal::ends_program ? static_cast<int>(SA_RESETHAND) : 0;
  ::sigaction(SIGINT, &heed, &interrupt_);
  ::sigaction(SIGTERM, &heed, &terminate_);
}

HeededSignals::~HeededSignals() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGTERM, &terminate_, nullptr);
}

// Reading a volatile sig_atomic_t is safe while a handler may write it.
bool has_come_signal() { return came_signal != 0; }

}  // namespace foretrain
