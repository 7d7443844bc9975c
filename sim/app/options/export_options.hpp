// Options of the command `export`: format, scenario, number of GPUs and output files.
#pragma once

#include <string>
#include <vector>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// The values that its options write to; they must live until the command line is parsed.
struct ExportOptions {
  ExportCommand command;
  std::string scenario;
  std::vector<std::string> settings_files;
  // Values of --batch and --gpus; only used when the options are given.
  long long batch = 0;
  int gpus = 0;
};

/// Adds the command.
void add_export(CLI::App& app, ExportOptions& options);

}  // namespace foretrain
