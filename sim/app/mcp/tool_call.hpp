// A tool of `foretrain mcp`, carried out.
#pragma once

#include <string>
#include <vector>

#include "sim/report/mcp/messages.hpp"

namespace foretrain {

/// The response to a call, as a line. Reads no file but the catalogs, those that came along, and those below
/// `folders`; writes none.
std::string answer_mcp_call(const McpMessage& message, const std::vector<std::string>& folders);

}  // namespace foretrain
