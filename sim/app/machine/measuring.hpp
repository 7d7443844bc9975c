// Measuring programs as the stages start them.
#pragma once

#include <string>
#include <vector>

#include "sim/app/machine/bounded_child.hpp"
#include "sim/app/machine/stages.hpp"

namespace foretrain {

/// Runs a program in the time that the stage has left; what it prints goes to log/NAME.txt. How it ended,
/// with a sentence where that is not well.
StageEnd run_for_stage(const MachineRun& run, std::vector<std::string> words, const std::string& name);

/// The same of `PYTHON -m foretrain measure WORDS`.
StageEnd run_measure(const MachineRun& run, std::vector<std::string> words, const std::string& name);

/// What a program is given of the stage's time, so that it ends before it is ended: "--budget" takes it.
std::string given_seconds(const MachineRun& run);

}  // namespace foretrain
