// fork rather than posix_spawn, because only the child itself can ask to be killed when its parent dies. A
// pipe that closes on exec brings back why exec failed.
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

/// What a program gets after SIGTERM to write what it has.
constexpr std::chrono::seconds kLastWords{2};
constexpr int kLookMilliseconds = 20, kNotStarted = 127;
constexpr std::size_t kLastBytes = 4096, kLongestLastLine = 300;

[[noreturn]] void become(const ChildCommand& command, std::vector<char*>& words, int output, int report,
                         pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGXFSZ}) std::signal(signal, SIG_DFL);
  const int input = ::open("/dev/null", O_RDONLY);
  const bool is_ready = ::getppid() == parent && input >= 0 && ::dup2(input, STDIN_FILENO) >= 0 &&
                        ::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(output, STDERR_FILENO) >= 0 &&
                        ::chdir(command.folder.c_str()) == 0;
  if (is_ready) ::execvp(words.front(), words.data());
  const int cause = errno;
  [[maybe_unused]] const ssize_t told = ::write(report, &cause, sizeof cause);
  ::_exit(kNotStarted);
}

/// 0: exec succeeded.
int exec_problem(int report) {
  int cause = 0;
  ssize_t got = -1;
  while ((got = ::read(report, &cause, sizeof cause)) < 0 && errno == EINTR) {
  }
  return got == sizeof cause ? cause : 0;
}

/// The last line of an error, else the last line with something in it.
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

std::string last_line_of(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return "";
  if (std::fseek(file, -static_cast<long>(kLastBytes), SEEK_END) != 0) std::rewind(file);
  std::array<char, kLastBytes> block{};
  const std::string text(block.data(), std::fread(block.data(), 1, block.size(), file));
  std::fclose(file);
  return informative_line(text);
}

std::string how_ended(int status) {
  if (WIFEXITED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
  const char* name = ::sigabbrev_np(WTERMSIG(status));
  return name == nullptr ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("SIG{}", name);
}

/// Waits until it has ended by itself, or until `end`.
bool has_ended(pid_t child, ChildClock::time_point end, bool heeds_signals, int& status) {
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (ChildClock::now() >= end || (heeds_signals && has_come_signal())) return false;
    ::poll(nullptr, 0, kLookMilliseconds);
  }
  return true;
}

void end_group(pid_t child, bool has_gone) {
  int status = 0;
  if (!has_gone) {
    ::kill(-child, SIGTERM);
    has_gone = has_ended(child, ChildClock::now() + kLastWords, false, status);
  }
  ::kill(-child, SIGKILL);  // also what it left behind
  while (!has_gone && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

/// Starts the program; its number, and why exec failed.
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
  ::setpgid(child, child);
  const int problem = exec_problem(report[0]);
  ::close(report[0]);
  return {child, problem};
}

}  // namespace

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
