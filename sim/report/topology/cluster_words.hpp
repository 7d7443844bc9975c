// What a cluster file describes, in the words of people who build such machines.
#pragma once

#include <string>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// "6 NVLinks each, hybrid cube mesh"; "no NVLink".
std::string nvlinks_in_words(const NodeSpec& node);
/// "4 NICs, one per PCIe switch"; "no NIC".
std::string nics_in_words(const NodeSpec& node);
/// "fat_tree of ib_edr, 18 nodes at a leaf, 2:1 oversubscribed from leaf to spine".
std::string fabric_in_words(const ClusterSpec& spec);

/// Some lines: the node, the ways between its devices, the host, the fabric.
std::string cluster_in_words(const ClusterSpec& spec);

}  // namespace foretrain
