// Writes a planned job as scripts of the batch systems that were requested.
#include "sim/app/job_script_files.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/import/jobs/meeting.hpp"

namespace foretrain {

// An unknown or empty name means the system of the plan's cluster.
const JobSystem& requested_system(const RecommendationOptions& options, const JobPlan& plan) {
  const std::string& name = options.job_system;
  const auto found = std::ranges::find(kBatchSystemNames, std::string_view(name));
  return job_system(name.empty() || found == kBatchSystemNames.end()
                        ? plan.system
                        : static_cast<BatchSystem>(found - kBatchSystemNames.begin()));
}

// Each option may name a file of its own; all are written from the same plan.
std::vector<FileText> job_script_files(const RecommendationOptions& options, const JobPlan& plan) {
  std::vector<FileText> files;
  if (!options.sbatch.empty())
    files.push_back({options.sbatch, write_job_script(plan, job_system(BatchSystem::slurm))});
  if (!options.condor.empty())
    files.push_back({options.condor, write_job_script(plan, job_system(BatchSystem::htcondor))});
  if (!options.job_script.empty())
    files.push_back({options.job_script, write_job_script(plan, requested_system(options, plan))});
  return files;
}

// The reason is a comment, so that it can stand in the place of a script on a page.
std::string script_or_reason(const RecommendationOptions& options, const JobPlan& plan) {
  const JobSystem& system = requested_system(options, plan);
  const ScriptRefusal refusal = why_not_written(plan, system.system);
  return refusal.why.empty() ? write_job_script(plan, system) : fmt::format("# {}\n", refusal.why);
}

bool asks_for_script(const RecommendationOptions& options) {
  return !options.sbatch.empty() || !options.condor.empty() || !options.job_script.empty();
}

}  // namespace foretrain
