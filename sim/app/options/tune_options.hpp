// Options of the command `tune`.
#pragma once

#include <string>
#include <vector>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// The values that the options write to; they must live until the command line is parsed.
struct TuneOptions {
  TuneCommand tune;
  /// Texts of --gpus.
  std::vector<std::string> gpus;
};

/// Adds the command, which prints the best settings that it found.
void add_tune(CLI::App& app, TuneOptions& options);

}  // namespace foretrain
