// The command serve: a web server on the loopback addresses with the workshop page and its engine. Each
// question is answered in a process of its own with limits of time and memory, so that no question can take
// the server with it.
//
// `foretrain serve` prints the address of the page and answers until a signal ends it. A requested port that
// is taken is an environment error (exit code 3). Questions are answered by answer.cpp.
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

// Port that is tried first when --port is not given.
constexpr int kUsualPort = 8080;
// Questions that are answered at the same time; further ones get status 503.
constexpr int kMostAtOnce = 4;

// Takes one of these places for its lifetime, if one is free.
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

// State that the server's threads share.
struct Desk {
  std::atomic<int> taken = 0;
  std::mutex turn;
};

/// Returns why the body is no question; empty when it is one. The check is cheap and needs no process of its
/// own.
std::string question_fault(const std::string& question) {
  try {
    read_question(question);
    return "";
  } catch (const InputError& error) {
    return printable_lines(error.what());
  }
}

/// Returns the response: 400 for no question, 503 when all places are taken, 500 when the process died, else
/// 200. A question with wrong input has status 200 and an answer that says so.
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
  // A signal is the normal end of the server, so no message is printed. An ignored signal stays ignored.
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
    // The address is printed when the port is open; it holds the token that the page needs.
    const std::string token = server.token.empty() ? "" : "?token=" + server.token;
    write_output("",
                 fmt::format("The workshop page: http://127.0.0.1:{}/{} (Ctrl-C ends it)\n", port, token));
    std::fflush(stdout);
  });
}

}  // namespace foretrain
