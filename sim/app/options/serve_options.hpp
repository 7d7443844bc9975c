// Options of `foretrain serve`, `mcp`, `update-catalogs` and `foretrain paste`.
#pragma once

#include <string>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Adds `serve`, the page in a browser.
void add_serve(CLI::App& app, ServeCommand& serve);
/// Adds `mcp`, tools for coding assistants.
void add_mcp(CLI::App& app, McpCommand& mcp);
/// Adds `update-catalogs`. `file` must live until the command line is parsed.
void add_update_catalogs(CLI::App& app, std::string& file);
/// Adds `paste`. `pasted` must live until the command line is parsed.
void add_paste(CLI::App& app, std::string& pasted);

}  // namespace foretrain
