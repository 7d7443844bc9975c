// The table [nccl], its environment, and what settings alone say of how collectives run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/collective/settings.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// What the tables say; what they leave out is NCCL's own choice.
struct CollectiveKnobs {
  nccl::Settings nccl{};
  std::optional<bool> gpudirect{};                         ///< nccl.gdr: replaces NodeSpec::gpudirect
  std::optional<int> processes_per_node{};                 ///< launch.processes_per_node
  int iterations = CollectiveSettings{}.iterations;        ///< nccl_tests.iterations
  int threads = CollectiveSettings{}.threads_per_process;  ///< nccl_tests.threads

  std::optional<std::string> calibration{};  ///< cluster.calibration: instead of that of the cluster's file

  /// With one process per GPU where nothing is said.
  CollectiveSettings settings() const { return {nccl, processes_per_node.value_or(0), threads, iterations}; }
};

const Keys<CollectiveKnobs>& nccl_keys();
/// Reads [nccl]. Does not call finish().
void read_nccl(TableReader& nccl, CollectiveKnobs& knobs);

/// Keys of [nccl_tests]: how its loop was run, which no scenario has.
const Keys<CollectiveKnobs>& nccl_tests_keys();

/// From "key=value" texts alone, as for --set: keys of [nccl], [launch] and [nccl_tests], and
/// cluster.calibration. Throws
/// InputError with every mistake.
CollectiveKnobs read_collective_knobs(const std::vector<std::string>& settings);

}  // namespace foretrain
