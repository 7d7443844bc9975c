// Options of `foretrain evidence`, of the recording of measured steps, and --evidence of other commands.
#pragma once

#include <string>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Adds `evidence` with its subcommands. `evidence` must live until the command line is parsed.
void add_evidence(CLI::App& app, EvidenceCommand& evidence);

/// The values that options of `measured` write to; they must live until the command line is parsed.
struct MeasuredOptions {
  MeasuredCommand measured;
  std::vector<std::string> gpus;
  /// Value of --batch; only used when the option is given.
  long long batch = 0;
};
/// Adds the command that records a measured rate or step time.
void add_measured(CLI::App& app, MeasuredOptions& options);
/// Adds --evidence off|FILE, which writes to `evidence`.
void add_evidence_option(CLI::App& command, std::string& evidence);

}  // namespace foretrain
