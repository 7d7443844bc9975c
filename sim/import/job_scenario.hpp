// A job script as a scenario: our TOML, each line with the script's line it comes from.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/import/job_script.hpp"
#include "sim/import/settings/settings.hpp"

namespace foretrain {

/// What is known besides a job script when its scenario is written: model, settings and node type.
struct JobScenarioOptions {
  std::string model;  ///< empty: the key is left to be filled in
  /// [data] is described elsewhere, so the job's cores count even when the script names no workers
  bool loads_data = false;
  std::string model_said_by = "--model";
  std::string kind{};  ///< of the site's nodes that the script leads to; empty: they are all alike
  std::vector<TrainingSettings> settings{};  ///< that the script names; what the script itself says wins
  /// What is trained is a recorded program: what the script says of network, batch and strategy is in it.
  bool is_recorded = false;
};

/// Valid TOML. Rules of docs/models/job_scripts.md: run.gpus are 1 and what is reserved; launch and strategy
/// follow from the launch line.
std::string write_job_scenario(const JobScript& script, const ClusterSpec& cluster,
                               const JobScenarioOptions& options);

/// Whether the program is told a strategy in which one process drives all GPUs of its node.
bool drives_all_gpus(const JobScript& script);

}  // namespace foretrain
