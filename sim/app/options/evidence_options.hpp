// Options of `foretrain evidence`, and --evidence of other commands.
#pragma once

#include <string>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

void add_evidence(CLI::App& app, EvidenceCommand& evidence);

/// What the options of `measured` write to; must live until the command line is parsed.
struct MeasuredOptions {
  MeasuredCommand measured;
  std::vector<std::string> gpus;
  long long batch = 0;
};
void add_measured(CLI::App& app, MeasuredOptions& options);
/// --evidence off|FILE.
void add_evidence_option(CLI::App& command, std::string& evidence);

}  // namespace foretrain
