// Options of `tune`.
#pragma once

#include <string>
#include <vector>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// What they write to; must live until the command line is parsed.
struct TuneOptions {
  TuneCommand tune;
  std::vector<std::string> gpus;
};

void add_tune(CLI::App& app, TuneOptions& options);

}  // namespace foretrain
