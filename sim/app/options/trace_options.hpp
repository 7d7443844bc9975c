// Options of the commands under `trace`.
#pragma once

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Declares `trace` with its commands. `trace` must live as long as the app, as options write to it.
void add_trace(CLI::App& app, TraceCommand& trace);

}  // namespace foretrain
