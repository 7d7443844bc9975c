// Functions with which the stages of `calibrate machine` start measuring programs.
#pragma once

#include <string>
#include <vector>

#include "sim/app/machine/bounded_child.hpp"
#include "sim/app/machine/stages.hpp"

namespace foretrain {

/// Runs a program within the remaining time of the stage; its output goes to log/NAME.txt. Returns how it
/// ended, with a sentence unless it ended well.
StageEnd run_for_stage(const MachineRun& run, std::vector<std::string> words, const std::string& name);

/// Runs `PYTHON -m foretrain measure WORDS` in the same way.
StageEnd run_measure(const MachineRun& run, std::vector<std::string> words, const std::string& name);

/// Returns the value for the program's --budget, in seconds. It is less than the stage's remaining time, so
/// that the program ends by itself.
std::string given_seconds(const MachineRun& run);

}  // namespace foretrain
