// Options of the commands under `calibrate`.
#pragma once

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

void add_calibrate(CLI::App& app, CalibrateCommand& calibrate);

}  // namespace foretrain
