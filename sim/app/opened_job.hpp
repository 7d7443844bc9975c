// A job script on the command line: read, checked against its cluster, and turned into a scenario.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/import/job_checks.hpp"
#include "sim/import/job_script.hpp"
#include "sim/import/settings/settings.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// A job script, its findings and the scenario that it stands for.
struct OpenedJob {
  /// The script's text.
  SourceText text;
  JobScript script;
  std::optional<ClusterSpec> cluster;
  /// Why the cluster is unknown, as a message with several lines; empty when it is known.
  std::string no_cluster;
  /// The same reasons in one line.
  std::string no_cluster_sentence;
  JobFindings findings;
  /// Training settings in files that the script names, such as DeepSpeed's JSON.
  std::vector<TrainingSettings> settings;
  /// The scenario as TOML; empty without a cluster.
  std::string toml;
};

/// Returns true when a recorded program is trained. Network, batch and strategy are then those of the
/// recording.
bool names_program(const ScenarioOverrides& overrides);

/// Returns true when the program's arguments or settings describe the network, as Megatron-LM's do.
bool describes_network(const OpenedJob& job);

/// Reads and checks a script. A cluster that cannot be determined stays open. Throws InputError when the text
/// is no script that foretrain reads, or when the user names an unknown cluster.
OpenedJob read_job(SourceText text, const ScenarioOverrides& overrides);

/// Does the same, but throws everything that prevents a prediction in one InputError: mistakes, no cluster,
/// no number of GPUs, no model.
OpenedJob open_job(SourceText text, const ScenarioOverrides& overrides);

}  // namespace foretrain
