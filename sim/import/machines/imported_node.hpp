// The sections of a cluster file that describe one kind of node, as an import writes them.
#pragma once

#include <string>
#include <vector>

#include "sim/import/machines/machine_cluster.hpp"

namespace foretrain {

/// Where a kind of node stands in the file of a site.
struct KindPlace {
  std::string name{};    ///< of the kind; empty: the file has no other
  bool is_first = true;  ///< [node]; the others are [[more_nodes]]
  /// Of the first kind; the others have a network of their own if it is another.
  std::string first_network{};
  std::string site_subject{};  ///< "58 nodes of 2 kinds"
};

/// A node as TOML text, with what was assumed.
struct ImportedNode {
  std::string text;
  std::vector<std::string> assumptions;
  std::vector<MachineWarning> doubts;
  std::string network;  ///< of the catalog; empty: none
  std::string gpu;      ///< of the catalog, or a file
  int nodes = 1;
};

/// Throws InputError where the machine does not say what a node is.
ImportedNode write_imported_node(const Machine& machine, const ImportAnswers& answers,
                                 const KindPlace& place);

}  // namespace foretrain
