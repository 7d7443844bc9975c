// Carries out a call of a tool of `foretrain mcp`.
#pragma once

#include <string>
#include <vector>

#include "sim/report/mcp/messages.hpp"

namespace foretrain {

/// Returns the response to a call as one line. Only the catalogs, the files that came with the call, the
/// stores of evidence and files below `folders` are read; none is written.
std::string answer_mcp_call(const McpMessage& message, const std::vector<std::string>& folders);

}  // namespace foretrain
