// Options of the command about finished jobs.
#pragma once

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Adds the command; what it writes to must live until the command line is parsed.
void add_explain(CLI::App& app, ExplainCommand& explain);

}  // namespace foretrain
