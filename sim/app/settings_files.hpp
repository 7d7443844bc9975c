// Files of training settings on the command line, and files that other files name.
#pragma once

#include <string>
#include <vector>

#include "sim/import/settings/settings.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Files that `file` names: in its own folder and those below it, by the name as written or its last part;
/// nothing else of the disk is read.
ScriptFinder sibling_files(const std::string& file);

/// Reads each; `gpus` is the job's number of GPUs, 0: not known. The mistakes of all are thrown at once.
std::vector<TrainingSettings> open_settings(const std::vector<std::string>& files, int gpus);

/// Puts what they say before the settings of the command line, which win, and what they leave out among its
/// notes.
void apply_settings(const std::vector<std::string>& files, ScenarioOverrides& overrides);

}  // namespace foretrain
