// The line of a job script that starts the training: which launcher, how many processes, which program.
#pragma once

#include "sim/import/job_script.hpp"

namespace foretrain {

/// Finds it among the commands of a script and stores it in script.launch; uses script.resources. Scripts
/// that are started by name are read through `find`. Says in script.not_understood why a part stays open, and
/// in script.remarks what was left aside. `values` are the script's variables at its end.
void read_launch(const std::vector<ShellCommand>& commands, const ShellValues& values,
                 const ScriptFinder& find, JobScript& script);

}  // namespace foretrain
