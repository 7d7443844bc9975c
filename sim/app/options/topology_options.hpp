// Options of the commands under `topology`, and the values they write to.
#pragma once

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Values of all topology commands. CLI11 fills in those of the command that was called.
struct TopologyOptions {
  /// Values of show, check and draw.
  TopologyCommand look;
  NewClusterCommand make;
  ImportClusterCommand read;
  DetectClusterCommand detect;
  DiffClusterCommand diff;
  /// File of `topology questions`.
  std::string questioned;
};

/// Declares `topology` with its commands. `options` must live as long as the app.
void add_topology(CLI::App& app, TopologyOptions& options);

}  // namespace foretrain
