// What the options of topology write to.
#pragma once

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Options of all topology commands; CLI11 fills in those of the one that was called.
struct TopologyOptions {
  TopologyCommand look;  ///< show, check, draw
  NewClusterCommand make;
  ImportClusterCommand read;
  DetectClusterCommand detect;
  DiffClusterCommand diff;
  std::string questioned;
};

/// Declares the subcommand; `options` must live as long as the app.
void add_topology(CLI::App& app, TopologyOptions& options);

}  // namespace foretrain
