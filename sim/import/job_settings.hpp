// Reads the training settings of a job: files that its launch line names, arguments of its program, and
// variables that it sets.
#pragma once

#include <vector>

#include "sim/import/job_script.hpp"
#include "sim/import/settings/settings.hpp"

namespace foretrain {

/// The settings that were read, in order of precedence, and the mistakes in them.
struct JobSettings {
  std::vector<TrainingSettings> files;
  std::vector<Diagnostic> mistakes;
};

/// Reads all settings; `find` looks for the files, and `text` is the script's text.
/// Sets the script's strategy, and its number of processes where the launch line leaves that to a file.
/// Mistakes in files are returned and not thrown.
JobSettings read_job_settings(const SourceText& text, JobScript& script, const ScriptFinder& find);

}  // namespace foretrain
