// The kinds of node of a cluster: the first is ClusterSpec::node, the others follow in the order of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/cluster/placement.hpp"

namespace foretrain {

/// How many; a cluster whose nodes are all alike has one.
int kind_count(const ClusterSpec& spec);
inline bool is_mixed(const ClusterSpec& spec) { return !spec.more_nodes.empty(); }
/// Of kind 0, 1, …
const NodeSpec& node_of_kind(const ClusterSpec& spec, int kind);
const std::string& name_of_kind(const ClusterSpec& spec, int kind);
int nodes_of_kind(const ClusterSpec& spec, int kind);
/// From its NICs to the first switch.
const LinkType& nic_link_of_kind(const ClusterSpec& spec, int kind);
/// Nodes of a kind stand side by side: the number of the first of them.
int first_node_of_kind(const ClusterSpec& spec, int kind);
int kind_of_node(const ClusterSpec& spec, int node);
std::optional<int> find_kind(const ClusterSpec& spec, std::string_view name);

/// The first kind that is the same machine, whatever it is called: `kind` itself where none before it is.
int first_kind_like(const ClusterSpec& spec, int kind);
/// The cluster as if all of its nodes were of one kind, for what is asked of one node. What was measured on
/// the cluster is known of the first kind, and of others with the same GPU.
ClusterSpec as_kind(const ClusterSpec& spec, int kind);

/// GPUs of the whole cluster.
std::int64_t gpu_count(const ClusterSpec& spec);
/// Of the node that has most.
int most_gpus_per_node(const ClusterSpec& spec);
/// Devices of each sort as many as the node that has most of it, and no links: what every node has room for.
NodeSpec largest_node(const ClusterSpec& spec);

/// What the cluster's first `nodes` nodes have.
std::vector<NodeCapacity> node_capacities_of(const ClusterSpec& spec, int nodes);

/// Does something to the node of every kind.
template <class Visitor>
void visit_nodes(ClusterSpec& spec, const Visitor& visit) {
  visit(spec.node);
  for (NodeKind& kind : spec.more_nodes) visit(kind.node);
}

}  // namespace foretrain
