// Checks a job script against the cluster that it is for.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/import/job_script.hpp"

namespace foretrain {

/// The mistakes of a script, each at its line.
/// refused: the batch system would not take the job, or there is nothing to predict. warnings: the job runs,
/// but probably not as intended; lines that were not understood are among them. Each list holds at most 50.
struct JobFindings {
  std::vector<Diagnostic> refused, warnings;
};

/// Returns all mistakes. `source` is the text that the script was read from. If `cluster` has no GPUs, only
/// those checks are done that need no cluster.
JobFindings check_job(const JobScript& script, const SourceText& source, const ClusterSpec& cluster);

/// Returns a mistake in one line, such as "job.sbatch:12: message (hint)".
std::string one_line(const Diagnostic& diagnostic);

}  // namespace foretrain
