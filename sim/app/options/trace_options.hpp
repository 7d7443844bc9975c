// What the options of trace, and of model import, write to.
#pragma once

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Declares the subcommands; what they write to must live as long as the app.
void add_trace(CLI::App& app, TraceCommand& trace);
void add_model_import(CLI::App& model, ImportModelCommand& import);

}  // namespace foretrain
