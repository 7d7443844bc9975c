// fork, limits, and a pipe for the answer.
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

constexpr std::size_t kLargestAnswer = std::size_t{64} << 20;

/// Everything but the standard streams and one pipe: connections and listening sockets stay the server's.
void close_all_but(int pipe) {
  ::close_range(3, static_cast<unsigned>(pipe) - 1, 0);
  ::close_range(static_cast<unsigned>(pipe) + 1, ~0U, 0);
}

/// Whether this process, which was just made, ends with its parent. The signal comes when the thread that
/// made it ends, which waits for it; where the parent was gone before, it never comes.
bool dies_with(pid_t parent) { return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent; }

void limit(__rlimit_resource resource, rlim_t most) {
  const rlimit both{most, most};
  ::setrlimit(resource, &both);
}

/// In the process that was made for it: never returns.
[[noreturn]] void work_into(int pipe, const std::function<std::string()>& work, pid_t parent) {
  if (!dies_with(parent)) ::_exit(1);
  close_all_but(pipe);
  limit(RLIMIT_AS, kMostMemoryApart);
  limit(RLIMIT_CPU, kMostSecondsApart);
  limit(RLIMIT_FSIZE, 0);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGALRM, SIG_DFL);
  ::alarm(2 * kMostSecondsApart);  // of waiting, which takes no CPU time
  try {
    const std::string answer = work();
    for (std::size_t at = 0; at < answer.size();) {
      const ssize_t written = ::write(pipe, answer.data() + at, answer.size() - at);
      if (written < 0 && errno != EINTR) ::_exit(1);
      at += written > 0 ? static_cast<std::size_t>(written) : 0;
    }
  } catch (...) {  // nothing was written, which is the answer
  }
  ::_exit(0);
}

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

/// A process at work, and the end of the pipe that its answer comes out of; -1 where there is none.
struct Answering {
  pid_t process = -1;
  int pipe = -1;
};

/// One after the other, so that none inherits the end that another one's answer goes into.
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
