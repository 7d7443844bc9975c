// Options of the commands under `calibrate`.
#pragma once

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Adds `calibrate` with its commands. `calibrate` must live until the command line is parsed, as options
/// write to it.
void add_calibrate(CLI::App& app, CalibrateCommand& calibrate);

}  // namespace foretrain
