// Fuzz target: lines of a client of the Model Context Protocol; each is understood or a fault, and both are
// written as one line of JSON.
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/report/json_value.hpp"
#include "sim/report/mcp/messages.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  using test::require;
  static const std::vector<McpTool> tools{{"check",
                                           {"job", "check"},
                                           "",
                                           {{"file", "", "", McpValueKind::text, {}, true},
                                            {"gpus", "--gpus", "", McpValueKind::list},
                                            {"limits", "--limits", "", McpValueKind::flag},
                                            {"ignore", "--ignore", "", McpValueKind::repeated},
                                            {"set", "--set", "", McpValueKind::settings}}}};
  const McpMessage message = read_mcp_message({reinterpret_cast<const char*>(data), size}, tools);
  std::string line;
  if (message.request == McpRequest::fault) {
    require(message.code < 0 && !message.why.empty());
    line = write_mcp_fault(message);
  } else if (message.request == McpRequest::call_tool) {
    require(message.call.words.size() <= kMostMcpWords && message.call.files.size() <= kMostMcpFiles);
    line = write_mcp_answer(message, {"", std::string(reinterpret_cast<const char*>(data), size), "", true});
  } else if (message.request == McpRequest::initialize) {
    line = write_mcp_initialized(message, "0");
  }
  require(line.empty() || (line.find('\n') == line.size() - 1 && Json::parse(line).is_object()));
  return 0;
}
