// Writes a cluster file from a Machine; every assumption in it is marked.
#pragma once

#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// The user's own statements about the nodes. They take precedence over what files say.
struct ImportAnswers {
  /// Name of a GPU in the catalog, or a file; empty to recognise it.
  std::string gpu;
  /// GPUs in a node, where no file says it; 0 when not given.
  int gpus_per_node = 0;
  /// Number of nodes; 0 for what the files say, else 1.
  int nodes = 0;
  /// Link between nodes; empty to choose it by the adapters.
  std::string network;
  /// Keep only nodes of this partition, where there are several kinds.
  std::string partition{};
  /// Reason that stands as a comment behind the GPU.
  std::string gpu_because = "as asked for";
  /// Command that the file names as its origin.
  std::string command = "import";
};

/// A cluster file made from files of other tools, with assumptions and warnings.
struct ImportedCluster {
  /// TOML that read_cluster() accepts.
  std::string text;
  /// Assumptions, one line each, for standard error.
  std::vector<std::string> assumptions;
  /// Warnings about the machine, for standard error and as comments of the text.
  std::vector<MachineWarning> doubts;
  /// Lines that compare NCCL's channels with foretrain's search.
  std::vector<std::string> checks{};
};

/// Writes the cluster file and reads it back as a check. Throws InputError where the files do not say what a
/// node is.
ImportedCluster cluster_of(const Machine& machine, const ImportAnswers& answers);

}  // namespace foretrain
