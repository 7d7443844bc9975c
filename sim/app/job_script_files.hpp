// The files that --sbatch, --condor and --job-script name.
#pragma once

#include <string>
#include <vector>

#include "sim/app/commands.hpp"
#include "sim/import/jobs/catalog.hpp"

namespace foretrain {

/// A file that a job script names, with its text.
struct FileText {
  std::string file;
  std::string text;
};

/// What --job-system says, else the cluster's.
const JobSystem& requested_system(const RecommendationOptions& options, const JobPlan& plan);
std::vector<FileText> job_script_files(const RecommendationOptions& options, const JobPlan& plan);

/// The script for the system that is asked for, or a comment that says why there is none.
std::string script_or_reason(const RecommendationOptions& options, const JobPlan& plan);

/// Whether any of them is named.
bool asks_for_script(const RecommendationOptions& options);

}  // namespace foretrain
