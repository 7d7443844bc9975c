// Runs a function in a forked process that answers over a socket. A message is its length in four bytes, then
// its bytes. The worker closes every file except its socket, so that it holds no lock and no log of its
// parent.
#include "sim/app/sweep/worker_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

// Exit codes of a worker that ran out of memory, and of one that failed otherwise.
constexpr int kOutOfMemory = 75, kFailed = 70;
// Size of a message's length, and bytes that are received at once.
constexpr std::size_t kLengthBytes = sizeof(std::uint32_t), kReadAtOnce = 1 << 16;
// The worker's socket, moved to the first descriptor behind the standard ones.
constexpr int kWorkerSocket = 3;

/// Sends all bytes. Returns false when the other end is gone.
bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// Sends length and message in one piece.
bool send_message(int socket, std::string_view message) {
  const auto length = static_cast<std::uint32_t>(message.size());
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return send_all(socket, bytes.append(message));
}

/// Waits for exactly this many bytes. Returns false when the other end is gone.
bool receive_all(int socket, char* into, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::recv(socket, into, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got, bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

/// Raises the worker's score for the kernel's out-of-memory killer. When memory runs short, a worker is then
/// killed before the process that writes the results.
void be_first_to_be_killed() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  constexpr std::string_view kScore = "500";
  [[maybe_unused]] const ssize_t written = ::write(file, kScore.data(), kScore.size());
  ::close(file);
}

/// Lowers a limit of the process; a lower one stays.
void limit(int resource, std::uint64_t most) {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0 || now.rlim_cur <= most) return;
  now.rlim_cur = most;
  ::setrlimit(static_cast<__rlimit_resource>(resource), &now);
}

/// The life of the worker; does not return.
[[noreturn]] void run_worker(const std::function<void(const WorkerSocket&)>& work, int socket, pid_t parent,
                             std::uint64_t most_bytes) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the call above.
  if (::getppid() != parent) ::_exit(kFailed);
  // Ctrl-C reaches the whole group; the parent decides when workers end.
  std::signal(SIGINT, SIG_IGN), std::signal(SIGTERM, SIG_IGN);
  // Handlers of the parent would print messages in its name.
  for (const int fatal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
    std::signal(fatal, SIG_DFL);
  ::dup2(socket, kWorkerSocket);
  ::close_range(kWorkerSocket + 1, ~0U, 0);
  be_first_to_be_killed();
  limit(RLIMIT_CORE, 0);
  if (most_bytes > 0) limit(RLIMIT_DATA, most_bytes);
  try {
    work(WorkerSocket(kWorkerSocket));
  } catch (const std::bad_alloc&) {
    ::_exit(kOutOfMemory);
  } catch (...) {
    ::_exit(kFailed);
  }
  ::_exit(0);
}

}  // namespace

bool WorkerSocket::receive(std::string& message) const {
  std::uint32_t length = 0;
  if (!receive_all(socket_, reinterpret_cast<char*>(&length), kLengthBytes)) return false;
  message.resize(length);
  return receive_all(socket_, message.data(), length);
}

void WorkerSocket::send(std::string_view message) const {
  // The parent is gone, so nobody waits for the answer.
  if (!send_message(socket_, message)) ::_exit(0);
}

WorkerProcess::WorkerProcess(const std::function<void(const WorkerSocket&)>& work, std::uint64_t most_bytes) {
  std::array<int, 2> ends{};
  const auto fail = [](int cause) {
    throw EnvironmentError(
        fmt::format("no worker process can be started: {}", std::generic_category().message(cause)));
  };
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail(errno);
  // Buffered output would be written twice if the child inherited it.
  std::fflush(stdout), std::fflush(stderr);
  const pid_t parent = ::getpid();
  process_ = ::fork();
  const int cause = errno;
  if (process_ == 0) run_worker(work, ends[1], parent, most_bytes);
  ::close(ends[1]);
  socket_ = ends[0];
  if (process_ > 0) return;
  ::close(socket_);
  fail(cause);
}

WorkerProcess::~WorkerProcess() {
  ::close(socket_);
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  ending();
}

void WorkerProcess::send(std::string_view message) const { send_message(socket_, message); }

// First everything that has arrived is read without waiting, then it is cut into messages.
bool WorkerProcess::receive(std::vector<std::string>& messages) {
  bool is_alive = true;
  std::array<char, kReadAtOnce> block{};
  while (true) {
    const ssize_t got = ::recv(socket_, block.data(), block.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    is_alive = got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
    if (got <= 0) break;
    arrived_.append(block.data(), static_cast<std::size_t>(got));
  }
  std::size_t at = 0;
  while (arrived_.size() - at >= kLengthBytes) {
    std::uint32_t length = 0;
    std::memcpy(&length, arrived_.data() + at, kLengthBytes);
    // The rest of this message has not arrived yet.
    if (arrived_.size() - at - kLengthBytes < length) break;
    messages.push_back(arrived_.substr(at + kLengthBytes, length));
    at += kLengthBytes + length;
  }
  arrived_.erase(0, at);
  return is_alive;
}

WorkerProcess::Ending WorkerProcess::ending() {
  int status = 0;
  pid_t ended = -1;
  // Waiting is repeated when a signal interrupts it.
  while ((ended = ::waitpid(process_, &status, 0)) < 0 && errno == EINTR) {
  }
  process_ = -1;
  Ending out;
  if (ended < 0) return out;
  if (WIFSIGNALED(status)) out.signal = WTERMSIG(status);
  if (WIFEXITED(status)) out.exit_code = WEXITSTATUS(status);
  out.out_of_memory = out.exit_code == kOutOfMemory;
  return out;
}

std::string WorkerProcess::Ending::text() const {
  if (out_of_memory) return "because it ran out of memory";
  if (signal == 0) return fmt::format("with exit code {}", exit_code);
  const char* name = ::sigabbrev_np(signal);
  std::string out = name == nullptr ? fmt::format("by signal {}", signal) : fmt::format("by SIG{}", name);
  return signal == SIGKILL ? out + ", as when the machine runs out of memory" : out;
}

}  // namespace foretrain
