// The options of trace.
#pragma once

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Declares the subcommands; what they write to must live as long as the app.
void add_trace(CLI::App& app, TraceCommand& trace);

}  // namespace foretrain
