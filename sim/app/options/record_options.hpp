// The command `record`, whose words another program reads.
#pragma once

#include <span>
#include <string>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// For help and completion alone: its words are not parsed here.
void add_record(CLI::App& app);
/// Whether the words of the command line are `record` with something behind it that is no call for help; then
/// they are handed over as they stand (run_record()).
bool run_record_line(std::span<const std::string> words);

/// --program: a recorded program in place of a model.
void add_recorded_program(CLI::App& command, ScenarioOverrides& overrides);

}  // namespace foretrain
