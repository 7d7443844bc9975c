// Runs work in a forked process with limits, and reads its answer from a pipe.
#include "sim/app/web/process_apart.hpp"

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace foretrain {

namespace {

// Largest answer in bytes; a longer one counts as none.
constexpr std::size_t kLargestAnswer = std::size_t{64} << 20;

/// Closes everything except the standard streams and one pipe, so that connections and listening sockets stay
/// the server's.
void close_all_but(int pipe) {
  ::close_range(3, static_cast<unsigned>(pipe) - 1, 0);
  ::close_range(static_cast<unsigned>(pipe) + 1, ~0U, 0);
}

/// Makes this new process end with its parent. The signal comes when the thread that made it ends, and that
/// thread waits for it. Returns false when the parent is gone already, since the signal would then never
/// come.
bool dies_with(pid_t parent) { return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent; }

/// Sets both the soft and the hard limit.
void limit(__rlimit_resource resource, rlim_t most) {
  const rlimit both{most, most};
  ::setrlimit(resource, &both);
}

/// Runs in the new process, and never returns. It limits memory, CPU time and the size of written files (0:
/// no file can be written), then writes the answer to the pipe.
[[noreturn]] void work_into(int pipe, const std::function<std::string()>& work, pid_t parent) {
  if (!dies_with(parent)) ::_exit(1);
  close_all_but(pipe);
  limit(RLIMIT_AS, kMostMemoryApart);
  limit(RLIMIT_CPU, kMostSecondsApart);
  limit(RLIMIT_FSIZE, 0);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGALRM, SIG_DFL);
  // The alarm limits waiting, which takes no CPU time.
  ::alarm(2 * kMostSecondsApart);
  try {
    const std::string answer = work();
    for (std::size_t at = 0; at < answer.size();) {
      const ssize_t written = ::write(pipe, answer.data() + at, answer.size() - at);
      if (written < 0 && errno != EINTR) ::_exit(1);
      at += written > 0 ? static_cast<std::size_t>(written) : 0;
    }
    // The parent takes an empty answer as "none".
  } catch (...) {
  }
  ::_exit(0);
}

/// Reads until the other end is closed, or until the answer is too large.
std::string read_to_end(int pipe) {
  std::string out;
  std::array<char, 1 << 16> block{};
  while (out.size() < kLargestAnswer) {
    const ssize_t got = ::read(pipe, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    out.append(block.data(), static_cast<std::size_t>(got));
  }
  return out;
}

// A process at work, and the pipe that its answer comes from; -1: none.
struct Answering {
  pid_t process = -1;
  int pipe = -1;
};

/// Starts the process. The lock makes calls wait for each other, so that no process inherits the write end of
/// another one's pipe, which would then never be closed.
Answering start_answering(const std::function<std::string()>& work, std::mutex& turn) {
  const std::lock_guard hold(turn);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const pid_t parent = ::getpid(), process = ::fork();
  if (process == 0) work_into(ends[1], work, parent);
  ::close(ends[1]);
  return {process, ends[0]};
}

}  // namespace

std::string done_apart(const std::function<std::string()>& work, std::mutex& turn) {
  const Answering answering = start_answering(work, turn);
  std::string answer = answering.process < 0 ? "" : read_to_end(answering.pipe);
  if (answering.pipe >= 0) ::close(answering.pipe);
  // The process is always waited for, so that none remains as a zombie.
  int status = 1;
  while (answering.process > 0 && ::waitpid(answering.process, &status, 0) < 0 && errno == EINTR) {
  }
  const bool is_whole = WIFEXITED(status) && WEXITSTATUS(status) == 0 && answer.size() < kLargestAnswer;
  return is_whole ? answer : "";
}

std::string why_nothing_apart() {
  return fmt::format("The answer took more than {} s or {} GiB, or failed.", kMostSecondsApart,
                     kMostMemoryApart >> 30);
}

}  // namespace foretrain
