// The report of `job show`: what was read from a job script.
#pragma once

#include <string>
#include <vector>

#include "sim/import/job_checks.hpp"
#include "sim/import/job_script.hpp"
#include "sim/import/settings/settings.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// Content of the report.
struct JobListing {
  const JobScript& script;
  const JobFindings& findings;
  /// Name of the cluster; empty: unknown.
  std::string cluster;
  /// Why it is unknown.
  std::string no_cluster;
  /// Training settings in files that the script names.
  const std::vector<TrainingSettings>& settings;
  /// The scenario that the job becomes; empty without a cluster.
  std::string toml;
};

/// Returns a table of fields with their lines, the scenario, mistakes and warnings.
std::string write_job_table(const JobListing& listing);

/// Returns schema foretrain.job/1. Keys are added, never renamed. Sizes are in bytes and times in seconds;
/// null stands for what the script does not state.
std::string write_job_json(const JobListing& listing);

/// The formats of `job show`; the first is the default.
inline constexpr Format<JobListing> kJobFormats[] = {{"table", write_job_table}, {"json", write_job_json}};

}  // namespace foretrain
