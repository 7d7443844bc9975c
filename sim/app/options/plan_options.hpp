// Options of the command `plan`.
#pragma once

#include <string>
#include <vector>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// What they write to; must live until the command line is parsed.
struct PlanOptions {
  PlanCommand plan;
  std::vector<std::string> gpus, nodes;  ///< as typed
};

void add_plan(CLI::App& app, PlanOptions& options);

}  // namespace foretrain
