// The program foretrain. It sets what only a process of its own may set, and then calls foretrain_main().
#include <csignal>
#include <limits>
#include <string_view>

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "sim/app/library/foretrain.h"

namespace {

// Free bytes that are kept at the end of the heap, and bytes by which the heap grows (chosen).
[[maybe_unused]] constexpr int kKeptBytes = std::numeric_limits<int>::max(), kTakenAtOnce = 16 << 20;

/// Opens /dev/null for each of standard input, output and error that is closed. An output file takes the
/// lowest free descriptor and would otherwise receive what is printed.
void keep_standard_numbers() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = ::open("/dev/null", O_RDONLY);
  if (descriptor > STDERR_FILENO) ::close(descriptor);
}

/// Keeps freed memory for the next simulation instead of returning it to the system. The step of a long
/// network is simulated again and again, and fresh pages would be its largest cost.
void keep_freed_memory() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  ::mallopt(M_TOP_PAD, kTakenAtOnce);
#endif
}

/// Handler of signals: writes a sentence and ends the process as the signal would by itself. Only functions
/// that are safe in a signal handler are called.
void end_by(int signal) {
  constexpr std::string_view kSentence =
      "error: interrupted: every output file is whole or as it was before\n";
  [[maybe_unused]] const ssize_t said = ::write(STDERR_FILENO, kSentence.data(), kSentence.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Installs the handler for SIGINT and SIGTERM. A signal that is ignored, as under nohup, stays ignored.
void say_what_signals_leave() {
  for (const int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, end_by) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

}  // namespace

// foretrain_main() is the whole program; it is also what the shared library offers.
int main(int argc, char** argv) {
  keep_freed_memory();
  keep_standard_numbers();
  say_what_signals_leave();
  // A file beyond the limit of size then fails to be written, with an error message, instead of killing the
  // process.
  std::signal(SIGXFSZ, SIG_IGN);
  return foretrain_main(argc, argv);
}
