// Commands about machines and texts of other tools: what each is told.
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
  bool channels = false;  ///< show NCCL's channels instead, or draw its rings
  int gpus = 0;           ///< of the job that has the channels; 0: all of its nodes
  int nodes = 0;          ///< 0: as few as hold the GPUs
  std::string nccl_version;
  std::vector<std::string> settings;
  std::string output;  ///< of draw
};
void run_topology_show(const TopologyCommand& command);  // topology.cpp

/// Arguments of `foretrain topology new`.
struct NewClusterCommand {
  NewCluster cluster;
  std::string output;  ///< file; empty = standard output
};
void run_topology_new(const NewClusterCommand& command);  // topology.cpp

/// Arguments of `foretrain topology import`: files of other tools that describe a machine.
struct ImportClusterCommand {
  std::vector<std::string> files;
  ImportAnswers answers;
  std::string output;  ///< empty: standard output
};
void run_topology_import(const ImportClusterCommand& command);  // topology_import.cpp

void run_topology_questions(const std::string& file);  // topology_questions.cpp

void run_update_catalogs(const std::string& file);  // library/update_catalogs.cpp

void run_paste(const std::string& file);  // paste.cpp
/// Whether a file is a text of many tools, as people paste it, and no job script.
bool is_pasted_file(const std::string& file);  // paste.cpp

/// Arguments of `foretrain topology detect`, which looks at the machine it runs on.
struct DetectClusterCommand {
  std::string root;  ///< a folder with another machine's sys/ and proc/; empty: this machine
  ImportAnswers answers;
  std::string output;  ///< empty: standard output
};
void run_topology_detect(const DetectClusterCommand& command);  // topology_detect.cpp

/// Arguments of `foretrain topology diff`.
struct DiffClusterCommand {
  std::string a, b;
};
void run_topology_diff(const DiffClusterCommand& command);  // topology_diff.cpp

void run_topology_check(const TopologyCommand& command);  // topology.cpp
void run_topology_draw(const TopologyCommand& command);   // topology_draw.cpp

}  // namespace foretrain
