// Runs a program with a time limit, in a process group of its own. It uses fork instead of posix_spawn,
// because only the child itself can ask to be killed when its parent dies (PR_SET_PDEATHSIG). A pipe that
// closes on exec carries the reason back when exec fails.
#include "sim/app/machine/bounded_child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/app/sweep/heeded_signals.hpp"
#include "sim/base/ascii.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

using ChildClock = std::chrono::steady_clock;

// Time that a program has after SIGTERM to write its results.
constexpr std::chrono::seconds kLastWords{2};
// Interval of checks on the child in ms, and the exit code when exec failed.
constexpr int kLookMilliseconds = 20, kNotStarted = 127;
// Bytes at the end of the output that are searched for an error, and the longest line that is quoted.
constexpr std::size_t kLastBytes = 4096, kLongestLastLine = 300;

/// Turns the forked child into the program; does not return. Only functions that are safe after fork are
/// called.
[[noreturn]] void become(const ChildCommand& command, std::vector<char*>& words, int output, int report,
                         pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGXFSZ}) std::signal(signal, SIG_DFL);
  const int input = ::open("/dev/null", O_RDONLY);
  // getppid() shows whether the parent died before PR_SET_PDEATHSIG took effect.
  const bool is_ready = ::getppid() == parent && input >= 0 && ::dup2(input, STDIN_FILENO) >= 0 &&
                        ::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(output, STDERR_FILENO) >= 0 &&
                        ::chdir(command.folder.c_str()) == 0;
  if (is_ready) ::execvp(words.front(), words.data());
  const int cause = errno;
  [[maybe_unused]] const ssize_t told = ::write(report, &cause, sizeof cause);
  ::_exit(kNotStarted);
}

/// Returns the errno of a failed exec, or 0 when exec succeeded and closed the pipe.
int exec_problem(int report) {
  int cause = 0;
  ssize_t got = -1;
  while ((got = ::read(report, &cause, sizeof cause)) < 0 && errno == EINTR) {
  }
  return got == sizeof cause ? cause : 0;
}

/// Returns the last line that contains an error, or else the last line that is not blank.
std::string informative_line(std::string_view text) {
  std::string_view telling;
  bool is_error = false;
  while (!text.empty()) {
    const std::string_view line = trimmed(text.substr(0, text.find('\n')));
    const bool says_error = line.find("rror: ") != std::string_view::npos;
    if (!line.empty() && (says_error || !is_error)) telling = line, is_error = says_error;
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return printable(shortened(telling, kLongestLastLine));
}

/// Returns the informative line of the file's last kLastBytes bytes; empty when it cannot be read.
std::string last_line_of(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return "";
  if (std::fseek(file, -static_cast<long>(kLastBytes), SEEK_END) != 0) std::rewind(file);
  std::array<char, kLastBytes> block{};
  const std::string text(block.data(), std::fread(block.data(), 1, block.size(), file));
  std::fclose(file);
  return informative_line(text);
}

/// Returns "exit code N" or the name of the signal that ended the program.
std::string how_ended(int status) {
  if (WIFEXITED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
  const char* name = ::sigabbrev_np(WTERMSIG(status));
  return name == nullptr ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("SIG{}", name);
}

/// Waits until the child has ended, until `end`, or until a signal has come for this process. Returns true
/// when the child ended by itself.
bool has_ended(pid_t child, ChildClock::time_point end, bool heeds_signals, int& status) {
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (ChildClock::now() >= end || (heeds_signals && has_come_signal())) return false;
    ::poll(nullptr, 0, kLookMilliseconds);
  }
  return true;
}

/// Ends the whole process group: SIGTERM, a pause for the child, then SIGKILL for everything that is left.
void end_group(pid_t child, bool has_gone) {
  int status = 0;
  if (!has_gone) {
    ::kill(-child, SIGTERM);
    has_gone = has_ended(child, ChildClock::now() + kLastWords, false, status);
  }
  // The group may hold processes that the child left behind, so it is killed even when the child is gone.
  ::kill(-child, SIGKILL);
  while (!has_gone && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

/// Starts the program. Returns its process id, and the errno of exec or 0. Throws EnvironmentError when the
/// output cannot be opened or the process cannot be made.
std::pair<pid_t, int> start_child(const ChildCommand& command) {
  const int output =
      ::open(command.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (output < 0)
    throw EnvironmentError(
        fmt::format("{}: cannot be written: {}", command.output, std::generic_category().message(errno)));
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::array<int, 2> report{-1, -1};
  const pid_t parent = ::getpid();
  // Buffered output would be written twice if the child inherited it.
  std::fflush(stdout), std::fflush(stderr);
  const pid_t child = ::pipe2(report.data(), O_CLOEXEC) == 0 ? ::fork() : -1;
  const int cause = errno;
  if (child == 0) become(command, words, output, report[1], parent);
  ::close(output), ::close(report[1]);
  if (child < 0) {
    ::close(report[0]);
    throw EnvironmentError(fmt::format("{} cannot be started: {}", command.words.front(),
                                       std::generic_category().message(cause)));
  }
  // Both processes set the group, so that it exists whichever of them runs first.
  ::setpgid(child, child);
  const int problem = exec_problem(report[0]);
  ::close(report[0]);
  return {child, problem};
}

}  // namespace

// The group is ended in every case, since a program that ended well may have left processes behind.
ChildEnd run_bounded(const ChildCommand& command) {
  const auto end = ChildClock::now() + std::chrono::duration_cast<ChildClock::duration>(command.time);
  const auto [child, problem] = start_child(command);
  int status = 0;
  if (problem != 0) {
    ::waitpid(child, &status, 0);
    return {ChildEnd::Kind::not_there, std::generic_category().message(problem), ""};
  }
  const bool ended = has_ended(child, end, true, status);
  end_group(child, ended);
  ChildEnd out{ChildEnd::Kind::well, "", last_line_of(command.output)};
  if (ended && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
    out.kind = ChildEnd::Kind::badly, out.how = how_ended(status);
  if (!ended) out.kind = has_come_signal() ? ChildEnd::Kind::interrupted : ChildEnd::Kind::time_over;
  return out;
}

}  // namespace foretrain
