// Writes the sections of a cluster file that describe one kind of node.
#pragma once

#include <string>
#include <vector>

#include "sim/import/machines/machine_cluster.hpp"

namespace foretrain {

/// The place of a kind of node in the file of a site with one or more kinds.
struct KindPlace {
  /// Name of the kind; empty when the file has only this one.
  std::string name{};
  /// True for the kind that is written as [node]; the others are [[more_nodes]].
  bool is_first = true;
  /// Network of the first kind. Another kind gets a network of its own only if it differs from this one.
  std::string first_network{};
  /// Words for the whole site, such as "58 nodes of 2 kinds"; empty for a single kind.
  std::string site_subject{};
};

/// A node as TOML text, with what was assumed to complete it.
struct ImportedNode {
  std::string text;
  /// Assumptions in words, one each, such as "PCIe: pcie4_x16".
  std::vector<std::string> assumptions;
  /// Warnings about the machine itself.
  std::vector<MachineWarning> doubts;
  /// Name of its network in the catalog of links; empty when the nodes have none.
  std::string network;
  /// Name of its GPU in the catalog, or a file that describes it.
  std::string gpu;
  /// Number of nodes of this kind.
  int nodes = 1;
};

/// Writes the node and adds what no file says as assumptions. Throws InputError where the machine does not
/// say what a node is, for example when it has no GPU.
ImportedNode write_imported_node(const Machine& machine, const ImportAnswers& answers,
                                 const KindPlace& place);

}  // namespace foretrain
