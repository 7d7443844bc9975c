// Descriptions of clusters in the words of people who build such machines.
#pragma once

#include <string>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Returns the NVLinks of a node, such as "6 NVLinks each, hybrid cube mesh" or "no NVLink".
std::string nvlinks_in_words(const NodeSpec& node);
/// Returns the network adapters of a node, such as "4 NICs, one per PCIe switch" or "no NIC".
std::string nics_in_words(const NodeSpec& node);
/// Returns the network, such as "fat_tree of ib_edr, 18 nodes at a leaf, 2:1 oversubscribed from leaf to
/// spine".
std::string fabric_in_words(const ClusterSpec& spec);

/// Returns some lines about the node, the paths between its devices, the host, and the fabric.
std::string cluster_in_words(const ClusterSpec& spec);

}  // namespace foretrain
