// Which commands are tools of `foretrain mcp`, with parameters from their declarations on the command line.
#pragma once

#include <vector>

#include "sim/report/mcp/tools.hpp"

namespace foretrain {

/// check, predict, compare, plan, explain, topology. What writes a file or reads a store of this machine is
/// no parameter.
std::vector<McpTool> command_tools();

}  // namespace foretrain
