// From what tools print of a machine to a cluster file, in which every assumption is marked.
#pragma once

#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// What the user says besides; it goes before what files say.
struct ImportAnswers {
  std::string gpu;                           ///< of the catalog, or a file; empty: as recognised
  int gpus_per_node = 0;                     ///< where no file says it
  int nodes = 0;                             ///< 0: as files say, else 1
  std::string network;                       ///< a link between nodes; empty: by the adapters
  std::string partition{};                   ///< of several kinds of node, only those of this one
  std::string gpu_because = "as asked for";  ///< why it is that
  std::string command = "import";            ///< what the file says it was made by
};

/// A cluster file made from files of other tools, with assumptions and warnings.
struct ImportedCluster {
  std::string text;                      ///< TOML that read_cluster() takes
  std::vector<std::string> assumptions;  ///< one line each, for standard error
  std::vector<MachineWarning> doubts;    ///< likewise; also comments of the text
  std::vector<std::string> checks{};     ///< likewise: what NCCL found itself against our search
};

/// Throws InputError where the files do not say what a node is.
ImportedCluster cluster_of(const Machine& machine, const ImportAnswers& answers);

}  // namespace foretrain
