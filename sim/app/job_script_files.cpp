// A plan in the words of each batch system that was asked for.
#include "sim/app/job_script_files.hpp"

#include <algorithm>

#include "sim/import/jobs/job_writers.hpp"

namespace foretrain {

const JobSystem& asked_system(const RecommendationOptions& options, const JobPlan& plan) {
  const std::string& name = options.job_system;
  const auto found = std::ranges::find(kBatchSystemNames, std::string_view(name));
  return job_system(name.empty() || found == kBatchSystemNames.end()
                        ? plan.system
                        : static_cast<BatchSystem>(found - kBatchSystemNames.begin()));
}

std::vector<FileText> job_script_files(const RecommendationOptions& options, const JobPlan& plan) {
  std::vector<FileText> files;
  if (!options.sbatch.empty()) files.push_back({options.sbatch, write_sbatch(plan)});
  if (!options.condor.empty()) files.push_back({options.condor, write_condor(plan)});
  if (!options.job_script.empty())
    files.push_back({options.job_script, asked_system(options, plan).write(plan)});
  return files;
}

bool asks_for_script(const RecommendationOptions& options) {
  return !options.sbatch.empty() || !options.condor.empty() || !options.job_script.empty();
}

}  // namespace foretrain
