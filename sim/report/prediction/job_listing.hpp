// What was read from a job script, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "sim/import/job_checks.hpp"
#include "sim/import/job_script.hpp"
#include "sim/import/settings/settings.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// What `job show` prints of a job script.
struct JobListing {
  const JobScript& script;
  const JobFindings& findings;
  std::string cluster;                            ///< empty: not known
  std::string no_cluster;                         ///< why
  const std::vector<TrainingSettings>& settings;  ///< that the script names
  std::string toml;                               ///< the scenario it becomes; empty without a cluster
};

/// A table of fields with their lines, the scenario, mistakes, warnings.
std::string write_job_table(const JobListing& listing);

/// Schema foretrain.job/1: keys are added, never renamed. Sizes in bytes, times in seconds; null for what the
/// script does not say.
std::string write_job_json(const JobListing& listing);

inline constexpr Format<JobListing> kJobFormats[] = {{"table", write_job_table}, {"json", write_job_json}};

}  // namespace foretrain
