// Files of training settings on the command line, and how files that they name are found.
#pragma once

#include <string>
#include <vector>

#include "sim/import/settings/settings.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Returns a function that finds files named in `file`: in its folder and below, by the name as written or
/// its last part. No other place of the disk is read.
ScriptFinder sibling_files(const std::string& file);

/// Reads each file. `gpus` is the job's number of GPUs; 0: unknown. Throws the mistakes of all files in one
/// InputError.
std::vector<TrainingSettings> open_settings(const std::vector<std::string>& files, int gpus);

/// Puts the settings of the files before those of the command line, which win. Settings that the prediction
/// ignores become notes.
void apply_settings(const std::vector<std::string>& files, ScenarioOverrides& overrides);

}  // namespace foretrain
