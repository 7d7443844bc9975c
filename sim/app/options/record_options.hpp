// The command `record`, whose words are passed on to another program.
#pragma once

#include <span>
#include <string>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Declares the command for help and completion; its words are not parsed here.
void add_record(CLI::App& app);
/// Runs `record` when the words of the command line are `record` and more than a call for help, and returns
/// true. The words are passed on unchanged (run_record()). Returns false for every other command line.
bool run_record_line(std::span<const std::string> words);

/// Adds --program, which takes a recorded program in place of a model.
void add_recorded_program(CLI::App& command, ScenarioOverrides& overrides);

}  // namespace foretrain
