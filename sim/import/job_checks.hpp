// What is wrong with a job script, held against the cluster it is for.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/import/job_script.hpp"

namespace foretrain {

/// `refused`: the batch system would not take the job, or there is nothing to predict. `warnings`: it runs,
/// but hardly as meant; lines that were not understood are among them. Both point at the script's lines.
struct JobFindings {
  std::vector<Diagnostic> refused, warnings;
};

/// `cluster` without GPUs: only what needs none is checked. `source` is the text the script was read from.
JobFindings check_job(const JobScript& script, const SourceText& source, const ClusterSpec& cluster);

/// "job.sbatch:12: message (hint)", for a list below a table.
std::string one_line(const Diagnostic& diagnostic);

}  // namespace foretrain
