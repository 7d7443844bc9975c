// The job scripts that --sbatch, --condor and --job-script name.
#pragma once

#include <string>
#include <vector>

#include "sim/app/commands.hpp"
#include "sim/import/jobs/catalog.hpp"

namespace foretrain {

/// A job script: the file to write and its text.
struct FileText {
  std::string file;
  std::string text;
};

/// Returns the batch system of --job-system, or that of the plan's cluster.
const JobSystem& requested_system(const RecommendationOptions& options, const JobPlan& plan);
/// Returns the requested scripts with the files they go to.
std::vector<FileText> job_script_files(const RecommendationOptions& options, const JobPlan& plan);

/// Returns the script for the requested system, or a comment line with the reason why it cannot be written.
std::string script_or_reason(const RecommendationOptions& options, const JobPlan& plan);

/// Returns true when at least one of the three options is given.
bool asks_for_script(const RecommendationOptions& options);

}  // namespace foretrain
