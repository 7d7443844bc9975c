// The tools of `foretrain mcp`, with parameters that come from the commands' declarations.
#pragma once

#include <vector>

#include "sim/report/mcp/tools.hpp"

namespace foretrain {

/// Returns the tools check, predict, compare, plan, explain and topology. Options that write a file or read a
/// store of this machine are no parameters.
std::vector<McpTool> command_tools();

}  // namespace foretrain
