// Options of the command `plan`.
#pragma once

#include <string>
#include <vector>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// The values that the options write to; they must live until the command line is parsed.
struct PlanOptions {
  PlanCommand plan;
  /// Numbers as typed, such as 8-64:8.
  std::vector<std::string> gpus, nodes;
};

/// Adds the command, which ranks layouts of a large model.
void add_plan(CLI::App& app, PlanOptions& options);

}  // namespace foretrain
