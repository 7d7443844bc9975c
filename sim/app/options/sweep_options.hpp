// Options of the commands about sweeps.
#pragma once

#include <string>
#include <vector>

#include "sim/app/sweep/sweep_commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// What they write to; must live until the command line is parsed.
struct SweepOptions {
  SweepRunCommand run;
  SweepMergeCommand merge;
  SweepStatusCommand status;
  SweepShowCommand show;
  SweepSubmitCommand submit;
  std::string shard;
};

void add_sweep(CLI::App& app, SweepOptions& options);

}  // namespace foretrain
