// Options of export: what is written, of which scenario, on how many GPUs.
#pragma once

#include <string>
#include <vector>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// What its options write to; must live until the command line is parsed.
struct ExportOptions {
  ExportCommand command;
  std::string scenario;
  std::vector<std::string> settings_files;
  long long batch = 0;
  int gpus = 0;
};

void add_export(CLI::App& app, ExportOptions& options);

}  // namespace foretrain
