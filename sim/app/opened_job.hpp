// A job script on the command line: read, held against its cluster, turned into a scenario's text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/import/job_checks.hpp"
#include "sim/import/job_script.hpp"
#include "sim/import/settings/settings.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// A job script that was read, with the scenario that it stands for.
struct OpenedJob {
  SourceText text;
  JobScript script;
  std::optional<ClusterSpec> cluster;
  std::string no_cluster;           ///< why there is none
  std::string no_cluster_sentence;  ///< every reason of it, in one line
  JobFindings findings;
  std::vector<TrainingSettings> settings;  ///< that the script names
  std::string toml;                        ///< the scenario; empty without a cluster
};

/// Whether a recorded program is trained: what the script says of network, batch and strategy is in it.
bool names_program(const ScenarioOverrides& overrides);

/// Whether arguments of the program describe the network itself, as Megatron-LM's do.
bool describes_network(const OpenedJob& job);

/// Reads and checks; a cluster that cannot be told stays open. Throws InputError for what is no script that
/// is read.
OpenedJob read_job(SourceText text, const ScenarioOverrides& overrides);

/// The same, but everything that keeps it from being predicted is thrown at once: mistakes, no cluster, no
/// model.
OpenedJob open_job(SourceText text, const ScenarioOverrides& overrides);

}  // namespace foretrain
