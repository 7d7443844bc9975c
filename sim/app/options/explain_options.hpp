// Options of the command `explain`, which is about finished jobs.
#pragma once

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Adds the command. `explain` must live until the command line is parsed, as options write to it.
void add_explain(CLI::App& app, ExplainCommand& explain);

}  // namespace foretrain
