// Options of the command about one collective alone.
#pragma once

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Adds the command; what it writes to must live until the command line is parsed.
void add_collective(CLI::App& app, CollectiveCommand& collective);

}  // namespace foretrain
