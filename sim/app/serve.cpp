// serve: the workshop page and its engine on this machine's own address. A question is answered in a process
// of its own, with limits of time and memory, so that none can take the server with it.
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/app/answer.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/web/access_token.hpp"
#include "sim/app/web/web_server.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/workshop/question.hpp"

namespace foretrain {

namespace {

constexpr int kUsualPort = 8080;
constexpr int kMostAtOnce = 4;                   ///< questions that are answered at the same time
constexpr rlim_t kMostMemory = rlim_t{4} << 30;  ///< bytes of one answer's process
constexpr rlim_t kMostSeconds = 60;              ///< of its processor time
constexpr std::size_t kLargestAnswer = std::size_t{64} << 20;

/// Everything but the standard streams and one pipe: connections and listening sockets stay the server's.
void close_all_but(int pipe) {
  ::close_range(3, static_cast<unsigned>(pipe) - 1, 0);
  ::close_range(static_cast<unsigned>(pipe) + 1, ~0U, 0);
}

/// Whether this process, which was just made, ends with its parent. The signal comes when the thread that
/// made it ends, which waits for it; where the parent was gone before, it never comes.
bool dies_with(pid_t parent) { return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent; }

/// In the process that was made for it: never returns.
[[noreturn]] void answer_into(int pipe, const std::string& question, pid_t parent) {
  if (!dies_with(parent)) ::_exit(1);
  close_all_but(pipe);
  const rlimit memory{kMostMemory, kMostMemory}, seconds{kMostSeconds, kMostSeconds};
  ::setrlimit(RLIMIT_AS, &memory);
  ::setrlimit(RLIMIT_CPU, &seconds);
  std::signal(SIGPIPE, SIG_DFL);
  try {
    const std::string answer = answer_question(question);
    for (std::size_t at = 0; at < answer.size();) {
      const ssize_t written = ::write(pipe, answer.data() + at, answer.size() - at);
      if (written < 0 && errno != EINTR) break;
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
Answering start_answering(const std::string& question, std::mutex& turn) {
  const std::lock_guard hold(turn);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const pid_t parent = ::getpid(), process = ::fork();
  if (process == 0) answer_into(ends[1], question, parent);
  ::close(ends[1]);
  return {process, ends[0]};
}

/// Empty when its process came to nothing.
std::string answered_apart(const std::string& question, std::mutex& turn) {
  const Answering answering = start_answering(question, turn);
  std::string answer = answering.process < 0 ? "" : read_to_end(answering.pipe);
  if (answering.pipe >= 0) ::close(answering.pipe);
  if (answering.process > 0) ::waitpid(answering.process, nullptr, 0);
  return answer;
}

/// Counts itself as long as it lives.
class Place {
 public:
  explicit Place(std::atomic<int>& taken) : taken_(taken), is_free_(++taken <= kMostAtOnce) {}
  ~Place() { --taken_; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  bool is_free() const { return is_free_; }

 private:
  std::atomic<int>& taken_;
  bool is_free_;
};

/// What the threads of the server share.
struct Desk {
  std::atomic<int> taken = 0;
  std::mutex turn;
};

/// Why what came is no question; empty when it is one.
std::string question_fault(const std::string& question) {
  try {
    read_question(question);
    return "";
  } catch (const InputError& error) {
    return printable_lines(error.what());
  }
}

WebResponse answered(const std::string& question, Desk& desk) {
  if (const std::string fault = question_fault(question); !fault.empty()) return {400, write_refusal(fault)};
  const Place place(desk.taken);
  if (!place.is_free()) return {503, write_refusal("The server answers as many questions as it can.")};
  std::string answer = answered_apart(question, desk.turn);
  if (answer.empty())
    return {500, write_refusal(fmt::format("The answer took more than {} s or {} GiB, or failed.",
                                           kMostSeconds, kMostMemory >> 30))};
  return {200, std::move(answer)};
}

}  // namespace

void run_serve(const ServeCommand& command) {
  // Signals are how it ends, nothing that anybody must be told of.
  for (const int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  Desk desk;
  const WebServer server{.port = command.port.value_or(kUsualPort),
                         .or_another_port = !command.port,
                         .token = command.no_token ? "" : new_access_token(),
                         .page = packed_workshop_page(),
                         .answer = [&desk](const std::string& question) { return answered(question, desk); },
                         .largest_body = kLargestQuestion};
  serve(server, [&server](int port) {
    const std::string token = server.token.empty() ? "" : "?token=" + server.token;
    write_output("",
                 fmt::format("The workshop page: http://127.0.0.1:{}/{} (Ctrl-C ends it)\n", port, token));
    std::fflush(stdout);
  });
}

}  // namespace foretrain
