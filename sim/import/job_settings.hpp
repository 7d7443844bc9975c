// Training settings of a job: files that its launch line names, arguments of its program, variables it sets.
#pragma once

#include <vector>

#include "sim/import/job_script.hpp"
#include "sim/import/settings/settings.hpp"

namespace foretrain {

/// What was read, and what is wrong with it.
struct JobSettings {
  std::vector<TrainingSettings> files;
  std::vector<Diagnostic> mistakes;
};

/// Reads them; files are looked for by `find`. The script takes over the strategy, and the number of
/// processes where its launch line leaves that to a file. `text` is the script's.
JobSettings read_job_settings(const SourceText& text, JobScript& script, const ScriptFinder& find);

}  // namespace foretrain
