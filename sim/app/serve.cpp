// serve: the workshop page and its engine on this machine's own address. A question is answered in a process
// of its own, with limits of time and memory, so that none can take the server with it.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/app/answer.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/web/access_token.hpp"
#include "sim/app/web/process_apart.hpp"
#include "sim/app/web/web_server.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/held_output.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/workshop/question.hpp"

namespace foretrain {

namespace {

constexpr int kUsualPort = 8080;
constexpr int kMostAtOnce = 4;  ///< questions that are answered at the same time

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
  std::string answer = done_apart([&question] { return answer_question(question); }, desk.turn);
  if (answer.empty()) return {500, write_refusal(why_nothing_apart())};
  return {200, std::move(answer)};
}

}  // namespace

void run_serve(const ServeCommand& command) {
  need_own_process("foretrain serve");
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
