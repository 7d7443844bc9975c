// Options of `foretrain serve`, `mcp`, `update-catalogs` and `foretrain paste`.
#pragma once

#include <string>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

void add_serve(CLI::App& app, ServeCommand& serve);
void add_mcp(CLI::App& app, McpCommand& mcp);
void add_update_catalogs(CLI::App& app, std::string& file);
/// `pasted` must live until the command line is parsed.
void add_paste(CLI::App& app, std::string& pasted);

}  // namespace foretrain
