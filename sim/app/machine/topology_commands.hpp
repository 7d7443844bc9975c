// The arguments of commands about clusters and about pasted output of tools, and the functions that run them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/import/machines/machine_cluster.hpp"
#include "sim/scenario/new_cluster.hpp"

namespace foretrain {

/// Arguments of `foretrain topology show`, `check` and `draw`.
struct TopologyCommand {
  std::string cluster;
  /// `show` prints NCCL's channels instead of the cluster, and `draw` draws its rings.
  bool channels = false;
  /// Number of GPUs of the job that has the channels; 0: all of its nodes' GPUs.
  int gpus = 0;
  /// Number of nodes; 0: as few as hold the GPUs.
  int nodes = 0;
  std::string nccl_version;
  std::vector<std::string> settings;
  /// File that `draw` writes.
  std::string output;
};
void run_topology_show(const TopologyCommand& command);  // topology.cpp

/// Arguments of `foretrain topology new`, which writes a cluster file from a few answers.
struct NewClusterCommand {
  NewCluster cluster;
  std::string output;  ///< file; empty = standard output
};
void run_topology_new(const NewClusterCommand& command);  // topology.cpp

/// Arguments of `foretrain topology import`, which makes a cluster file from output of other tools.
struct ImportClusterCommand {
  std::vector<std::string> files;
  ImportAnswers answers;
  std::string output;  ///< empty: standard output
};
void run_topology_import(const ImportClusterCommand& command);  // topology_import.cpp

/// Prints what a person must still answer to complete a machine that was read from FILE.
void run_topology_questions(const std::string& file);  // topology_questions.cpp

/// Replaces the user's catalogs by those of an archive.
void run_update_catalogs(const std::string& file);  // library/update_catalogs.cpp

/// Reads pasted output of tools and prints what follows from it.
void run_paste(const std::string& file);  // paste.cpp
/// Returns true when the file holds output of several tools, as people paste it, and is no job script.
bool is_pasted_file(const std::string& file);  // paste.cpp

/// Arguments of `foretrain topology detect`, which looks at the machine it runs on.
struct DetectClusterCommand {
  /// Folder with another machine's sys/ and proc/; empty: this machine.
  std::string root;
  ImportAnswers answers;
  std::string output;  ///< empty: standard output
};
void run_topology_detect(const DetectClusterCommand& command);  // topology_detect.cpp

/// Arguments of `foretrain topology diff`, which compares two clusters.
struct DiffClusterCommand {
  std::string a, b;
};
void run_topology_diff(const DiffClusterCommand& command);  // topology_diff.cpp

void run_topology_check(const TopologyCommand& command);  // topology.cpp
void run_topology_draw(const TopologyCommand& command);   // topology_draw.cpp

}  // namespace foretrain
