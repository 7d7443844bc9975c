// The program: what a process of its own may set for itself, around foretrain_main().
#include <csignal>
#include <limits>
#include <string_view>

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "sim/app/library/foretrain.h"

namespace {

/// Of free memory at the end of the heap, and by how much the heap grows; chosen.
[[maybe_unused]] constexpr int kKeptBytes = std::numeric_limits<int>::max(), kTakenAtOnce = 16 << 20;

/// A file that is opened takes the lowest free number: without this it would be where a closed standard
/// output was.
void keep_standard_numbers() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = ::open("/dev/null", O_RDONLY);
  if (descriptor > STDERR_FILENO) ::close(descriptor);
}

/// What one simulation gives back the next one takes, instead of new pages of the system: they are what a
/// long network would cost most, for its step is simulated again and again.
void keep_freed_memory() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  ::mallopt(M_TOP_PAD, kTakenAtOnce);
#endif
}

/// Ends as the signal would by itself, with a sentence before.
void end_by(int signal) {
  constexpr std::string_view kSentence =
      "error: interrupted: every output file is whole or as it was before\n";
  [[maybe_unused]] const ssize_t said = ::write(STDERR_FILENO, kSentence.data(), kSentence.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// A signal that is ignored, as under nohup, stays so.
void say_what_signals_leave() {
  for (const int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, end_by) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  keep_standard_numbers();
  say_what_signals_leave();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is a failed write
  return foretrain_main(argc, argv);
}
