// Options of the command `collective`.
#pragma once

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Adds the command. `collective` must live until the command line is parsed, as options write to it.
void add_collective(CLI::App& app, CollectiveCommand& collective);

}  // namespace foretrain
