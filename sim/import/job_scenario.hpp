// Writes a job script as a scenario in TOML. Each key has a comment with the script's line that it comes
// from.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/import/job_script.hpp"
#include "sim/import/settings/settings.hpp"

namespace foretrain {

/// The facts besides the script that its scenario needs.
struct JobScenarioOptions {
  /// Name of the model; if it is empty, the key is left for the user to fill in.
  std::string model;
  /// True if [data] is described elsewhere, so that the job's cores count even when the script names no
  /// workers.
  bool loads_data = false;
  /// Place that named the model, for the comment.
  std::string model_said_by = "--model";
  /// Kind of node that the script leads to; empty if all nodes of the cluster are alike.
  std::string kind{};
  /// Settings files that the script names. What the script itself says takes precedence.
  std::vector<TrainingSettings> settings{};
  /// True if a recorded program is trained, which holds network, batch and strategy.
  bool is_recorded = false;
};

/// Returns valid TOML by the rules of docs/models/imports.md: run.gpus are 1 and the reserved GPUs, and
/// launch and strategy follow from the launch line.
/// Values out of the schema's range are left out.
std::string write_job_scenario(const JobScript& script, const ClusterSpec& cluster,
                               const JobScenarioOptions& options);

/// Says whether the strategy of the program lets one process drive all GPUs of its node.
bool drives_all_gpus(const JobScript& script);

}  // namespace foretrain
