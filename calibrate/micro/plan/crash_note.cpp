// A signal handler may call little more than write(), so the text is prepared before each point.
#include "calibrate/micro/plan/crash_note.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include <unistd.h>

#include "sim/base/printable.hpp"

namespace foretrain::micro {

namespace {

constexpr int kCrashFaults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr std::string_view kCrashBegin = "error: the program crashed while it measured ", kCrashEnd = "\n";

std::array<char, 512> crash_text{};
volatile std::sig_atomic_t crash_length = 0;

void say_and_end(int signal) {
  const ssize_t written = ::write(STDERR_FILENO, crash_text.data(), static_cast<std::size_t>(crash_length));
  static_cast<void>(written);
  // SA_RESETHAND removed the handler, so raising the signal again ends the program as without it.
  static_cast<void>(::raise(signal));
}

void set_handlers(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  ::sigemptyset(&action.sa_mask);
  for (const int fault : kCrashFaults) ::sigaction(fault, &action, nullptr);
}

}  // namespace

CrashNote::CrashNote() {
  doing("nothing yet");
  set_handlers(say_and_end);
}

CrashNote::~CrashNote() { set_handlers(SIG_DFL); }

void CrashNote::doing(std::string_view what) {
  crash_length = 0;
  const std::string plain = printable(what);
  char* at = std::copy(kCrashBegin.begin(), kCrashBegin.end(), crash_text.data());
  const std::size_t capacity = crash_text.size() - kCrashBegin.size() - kCrashEnd.size();
  at = std::copy_n(plain.data(), std::min(plain.size(), capacity), at);
  at = std::copy(kCrashEnd.begin(), kCrashEnd.end(), at);
  crash_length = static_cast<std::sig_atomic_t>(at - crash_text.data());
}

}  // namespace foretrain::micro
