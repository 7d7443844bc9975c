// Options of the commands about sweeps.
#pragma once

#include <string>
#include <vector>

#include "sim/app/sweep/sweep_commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// The values that the options write to; they must live until the command line is parsed.
struct SweepOptions {
  SweepRunCommand run;
  SweepMergeCommand merge;
  SweepStatusCommand status;
  SweepShowCommand show;
  SweepSubmitCommand submit;
  /// Value of --shard as typed.
  std::string shard;
};

/// Adds `sweep` with its commands.
void add_sweep(CLI::App& app, SweepOptions& options);

}  // namespace foretrain
