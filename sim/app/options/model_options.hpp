// The options of `model import`.
#pragma once

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Declares the subcommand of `model`; `command` must live as long as the app.
void add_model_import(CLI::App& model, ImportModelCommand& command);

}  // namespace foretrain
