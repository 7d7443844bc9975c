// The table [nccl], its environment, and settings on collectives that do not need a scenario.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/collective/settings.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// Settings on collectives. Values that the tables omit are NCCL's own choice.
struct CollectiveKnobs {
  nccl::Settings nccl{};
  /// nccl.gdr; replaces NodeSpec::gpudirect.
  std::optional<bool> gpudirect{};
  /// launch.processes_per_node.
  std::optional<int> processes_per_node{};
  /// nccl_tests.iterations.
  int iterations = CollectiveSettings{}.iterations;
  /// nccl_tests.threads.
  int threads = CollectiveSettings{}.threads_per_process;

  /// cluster.calibration; replaces that of the cluster's file.
  std::optional<std::string> calibration{};

  /// Returns the settings for collectives, with one process per GPU unless the tables state another number.
  CollectiveSettings settings() const { return {nccl, processes_per_node.value_or(0), threads, iterations}; }
};

/// Returns the declared keys of [nccl].
const Keys<CollectiveKnobs>& nccl_keys();
/// Reads [nccl] without calling finish().
void read_nccl(TableReader& nccl, CollectiveKnobs& knobs);

/// Returns the keys of [nccl_tests], the options of its loop; scenarios do not have this table.
const Keys<CollectiveKnobs>& nccl_tests_keys();

/// Reads "key=value" texts alone, as for --set: keys of [nccl], [launch] and [nccl_tests], and
/// cluster.calibration. Throws InputError with every mistake.
CollectiveKnobs read_collective_knobs(const std::vector<std::string>& settings);

}  // namespace foretrain
