// Messages of the Model Context Protocol: JSON-RPC 2.0, one object a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/mcp/tools.hpp"

namespace foretrain {

/// What a client of the Model Context Protocol asks for.
enum class McpRequest : std::uint8_t {
  none,  ///< a notification or a response: nobody waits for an answer
  initialize,
  ping,
  list_tools,
  call_tool,
  fault,  ///< no message, or one that cannot be answered
};

/// A line of a client, understood.
struct McpMessage {
  McpRequest request = McpRequest::none;
  std::string id = "null";         ///< as JSON
  std::string protocol_version{};  ///< of initialize
  McpCall call{};                  ///< of call_tool
  int code = 0;                    ///< of a fault, as JSON-RPC numbers them
  std::string why{};               ///< of a fault
};

/// Never throws but std::bad_alloc: what is no message is a fault.
McpMessage read_mcp_message(std::string_view line, const std::vector<McpTool>& tools);

/// Lines, with their end.
std::string write_mcp_initialized(const McpMessage& message, std::string_view program_version);
std::string write_mcp_pong(const McpMessage& message);
std::string write_mcp_tools(const McpMessage& message, const std::vector<McpTool>& tools);
std::string write_mcp_fault(const McpMessage& message);
std::string write_mcp_fault(std::string_view id, int code, std::string_view why);

/// What a tool said. `json`: the report that it printed, or empty. `text`: what people read of it; empty: the
/// answers in the report. `messages`: what stands beside it.
struct McpAnswer {
  std::string json, text, messages;
  bool is_error = false;
};
std::string write_mcp_answer(const McpMessage& message, const McpAnswer& answer);

/// Whether a text is a JSON report that says an answer in words.
bool has_answer_in_words(std::string_view json);

}  // namespace foretrain
