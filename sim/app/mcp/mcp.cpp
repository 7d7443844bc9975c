// The command mcp: serves tools over standard input and output, one JSON-RPC message per line, one after the
// other. A call runs in a child process with the limits of `foretrain serve`, so that a failing call cannot
// end the server.
//
// An assistant starts `foretrain mcp` itself. Mistakes in a message are answered with an error of JSON-RPC,
// and errors of the called command with a result that has isError; neither ends this command.
#include <array>
#include <csignal>
#include <mutex>
#include <optional>
#include <string>

#include <unistd.h>

#include "sim/app/commands.hpp"
#include "sim/app/mcp/command_tools.hpp"
#include "sim/app/mcp/tool_call.hpp"
#include "sim/app/web/process_apart.hpp"
#include "sim/base/held_output.hpp"
#include "sim/base/input_file.hpp"
#include "sim/report/mcp/messages.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/workshop/question.hpp"

namespace foretrain {

namespace {

// Error codes of JSON-RPC 2.0.
constexpr int kInvalidRequest = -32600, kInternalError = -32603;

/// Reads the lines of standard input. A line is at most as long as a question of `serve` (kLargestQuestion).
class Lines {
 public:
  /// A line, without its end. The text of a line that is too long is dropped.
  struct Line {
    std::string text;
    bool is_too_large = false;
  };
  /// Returns the next line, or nothing at the end of the input.
  std::optional<Line> next() {
    Line line;
    for (;;) {
      const std::size_t end = pending_.find('\n');
      const std::string_view part = std::string_view(pending_).substr(0, end);
      if (line.text.size() + part.size() > kLargestQuestion) line.is_too_large = true, line.text.clear();
      if (!line.is_too_large) line.text += part;
      if (end != std::string::npos) {
        pending_.erase(0, end + 1);
        return line;
      }
      pending_.clear();
      const std::size_t got = input_.read(block_.data(), block_.size());
      if (got == 0)
        return line.text.empty() && !line.is_too_large ? std::nullopt : std::optional(std::move(line));
      pending_.assign(block_.data(), got);
    }
  }

 private:
  InputFile input_{"/dev/stdin"};
  // Bytes that were read behind the last returned line.
  std::array<char, 1 << 16> block_{};
  std::string pending_;
};

/// Returns the line that answers a message; empty for a message that expects no answer.
std::string response_to(const McpMessage& message, const std::vector<McpTool>& tools,
                        const McpCommand& command, std::mutex& turn) {
  switch (message.request) {
    case McpRequest::none:
      return "";
    case McpRequest::initialize:
      return write_mcp_initialized(message, FORETRAIN_VERSION);
    case McpRequest::ping:
      return write_mcp_pong(message);
    case McpRequest::list_tools:
      return write_mcp_tools(message, tools);
    case McpRequest::fault:
      return write_mcp_fault(message);
    case McpRequest::call_tool:
      break;
  }
  // An answer without a line end means that the child was ended before it was complete.
  std::string line = done_apart([&] { return answer_mcp_call(message, command.folders); }, turn);
  return line.ends_with('\n') ? line : write_mcp_fault(message.id, kInternalError, why_nothing_apart());
}

}  // namespace

// Blank lines are ignored; a line that is too long is answered with an error that has no id.
void run_mcp(const McpCommand& command) {
  need_own_process("foretrain mcp");
  // The handler of main() would print a sentence; the client expects a silent end.
  for (const int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  const std::vector<McpTool> tools = command_tools();
  std::mutex turn;
  Lines lines;
  while (const std::optional<Lines::Line> line = lines.next()) {
    if (line->text.find_first_not_of(" \t\r") == std::string::npos && !line->is_too_large) continue;
    write_bytes("-", line->is_too_large
                         ? write_mcp_fault("null", kInvalidRequest, "the line is larger than 1 MiB")
                         : response_to(read_mcp_message(line->text, tools), tools, command, turn));
  }
}

}  // namespace foretrain
