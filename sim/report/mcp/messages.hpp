// Messages of the Model Context Protocol: JSON-RPC 2.0 with one object on a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/mcp/tools.hpp"

namespace foretrain {

/// Requests of a client.
enum class McpRequest : std::uint8_t {
  /// A notification or a response, which needs no answer.
  none,
  initialize,
  ping,
  list_tools,
  call_tool,
  /// A line that is no message, or one that cannot be carried out.
  fault,
};

/// A line of a client, read and checked.
struct McpMessage {
  McpRequest request = McpRequest::none;
  /// Id of the request as JSON, to be repeated in the answer.
  std::string id = "null";
  /// Version of the protocol that `initialize` asks for.
  std::string protocol_version{};
  /// The call of a call_tool.
  McpCall call{};
  /// Error code of a fault, as JSON-RPC defines it.
  int code = 0;
  /// Message of a fault.
  std::string why{};
};

/// Reads a line. Everything that is wrong becomes a fault; only std::bad_alloc is thrown.
McpMessage read_mcp_message(std::string_view line, const std::vector<McpTool>& tools);

// These functions return an answer as one line with its end.
std::string write_mcp_initialized(const McpMessage& message, std::string_view program_version);
std::string write_mcp_pong(const McpMessage& message);
std::string write_mcp_tools(const McpMessage& message, const std::vector<McpTool>& tools);
std::string write_mcp_fault(const McpMessage& message);
std::string write_mcp_fault(std::string_view id, int code, std::string_view why);

/// The result of a tool. `json` is the report that it printed, or empty. `text` is what people read of it;
/// empty: the answers in the report. `messages` are warnings and errors.
struct McpAnswer {
  std::string json, text, messages;
  bool is_error = false;
};
std::string write_mcp_answer(const McpMessage& message, const McpAnswer& answer);

/// Returns true when the text is a JSON report with an answer in words.
bool has_answer_in_words(std::string_view json);

}  // namespace foretrain
