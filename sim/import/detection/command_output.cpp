// The child runs in a process group of its own, so that what it starts can be ended with it.
#include "sim/import/detection/command_output.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

// POSIX declares this variable in no header.
extern char** environ;

namespace foretrain {

namespace {

using ProbeClock = std::chrono::steady_clock;

/// The two ends of a pipe; they are closed at the end of life. Both are -1 when no pipe could be made.
struct ProbePipe {
  std::array<int, 2> ends{-1, -1};
  ProbePipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  ~ProbePipe() {
    for (const int end : ends) close_end(end);
  }
  ProbePipe(const ProbePipe&) = delete;
  ProbePipe& operator=(const ProbePipe&) = delete;
  static void close_end(int end) {
    if (end >= 0) ::close(end);
  }
  /// Closes the writing end here, so that reading ends when the child closes its copy.
  void close_writing() {
    close_end(ends[1]);
    ends[1] = -1;
  }
};

/// Starts a child whose standard output is `output`. Returns 0 and sets `child`, or returns the error number.
int start(const std::vector<std::string>& arguments, int output, pid_t& child) {
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // Group 0 stands for a new group with the number of the child.
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  const int failed = ::posix_spawnp(&child, words[0], &files, &attributes, words.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  return failed;
}

/// Appends what can be read to `text` until the end of file. Returns "" then, else the limit or the error
/// that stopped it.
std::string read_all(int from, const CommandLimits& limits, std::string& text) {
  const auto end = ProbeClock::now() + limits.time;
  std::array<char, 1 << 16> piece;
  while (true) {
    // The time that is left is rounded up, so that poll() never waits 0 ms in a loop.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - ProbeClock::now()).count();
    if (left <= 0)
      return fmt::format("needs more than {:g} s", std::chrono::duration<double>(limits.time).count());
    pollfd waiting{from, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return "cannot be read";
    // Here the time is over or a signal arrived; the check above decides.
    if (ready <= 0) continue;
    const ssize_t count = ::read(from, piece.data(), piece.size());
    if (count < 0 && errno != EINTR) return "cannot be read";
    if (count == 0) return "";
    text.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (text.size() > limits.bytes) return fmt::format("prints more than {} bytes", limits.bytes);
  }
}

/// Waits for the child until `end` and kills its group then. Returns the exit status, or -1 when a signal
/// ended it.
int wait_until(pid_t child, ProbeClock::time_point end) {
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (ProbeClock::now() > end) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      return -1;
    }
    // A child that closed its output may still run; it is polled every 5 ms.
    ::poll(nullptr, 0, 5);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

CommandOutput command_output(const std::vector<std::string>& arguments, CommandLimits limits) {
  CommandOutput out;
  ProbePipe pipe;
  pid_t child = -1;
  const auto end = ProbeClock::now() + limits.time;
  const int failed = pipe.ends[0] < 0 ? errno : start(arguments, pipe.ends[1], child);
  if (failed != 0) {
    // ENOENT means that no such program is on PATH, which is normal; other errors are problems of the
    // machine.
    out.is_there = failed != ENOENT;
    out.problem = out.is_there ? "does not start" : "is not here";
    return out;
  }
  pipe.close_writing();
  out.problem = read_all(pipe.ends[0], limits, out.text);
  // Killing the group also ends children that hold the pipe open.
  if (!out.problem.empty()) ::kill(-child, SIGKILL);
  const int status = wait_until(child, end);
  if (out.problem.empty() && status != 0)
    out.problem = status > 0 ? fmt::format("ends with {}", status) : "was ended";
  if (!out.problem.empty()) out.text.clear();
  return out;
}

}  // namespace foretrain
