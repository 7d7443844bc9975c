// The kinds of node of a cluster. The first is ClusterSpec::node; the others follow in the order of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/cluster/placement.hpp"

namespace foretrain {

/// Returns the number of kinds; it is 1 if all nodes are alike.
int kind_count(const ClusterSpec& spec);
inline bool is_mixed(const ClusterSpec& spec) { return !spec.more_nodes.empty(); }
/// Returns the node of kind 0, 1, … Requires 0 <= kind < kind_count(spec), as do the functions below.
const NodeSpec& node_of_kind(const ClusterSpec& spec, int kind);
const std::string& name_of_kind(const ClusterSpec& spec, int kind);
int nodes_of_kind(const ClusterSpec& spec, int kind);
/// Returns the link from the NICs of this kind to the first switch.
const LinkType& nic_link_of_kind(const ClusterSpec& spec, int kind);
/// Returns the number of the first node of a kind. Nodes of a kind have consecutive numbers.
int first_node_of_kind(const ClusterSpec& spec, int kind);
int kind_of_node(const ClusterSpec& spec, int node);
/// Returns the kind of this name, or nothing.
std::optional<int> find_kind(const ClusterSpec& spec, std::string_view name);

/// Returns the first kind that is the same machine, whatever its name: `kind` itself if no earlier kind is.
int first_kind_like(const ClusterSpec& spec, int kind);
/// Returns the cluster as if all its nodes were of one kind, for questions about one node. Measurements of
/// the cluster hold for the first kind, and for others with the same GPU.
ClusterSpec as_kind(const ClusterSpec& spec, int kind);

/// Returns the number of GPUs of the whole cluster.
std::int64_t gpu_count(const ClusterSpec& spec);
/// Returns the number of GPUs of the node that has most.
int most_gpus_per_node(const ClusterSpec& spec);
/// Returns a node without links that has, for each sort of device, as many as the kind with most of it.
NodeSpec largest_node(const ClusterSpec& spec);

/// Returns the GPUs of each of the cluster's first `nodes` nodes.
std::vector<NodeCapacity> node_capacities_of(const ClusterSpec& spec, int nodes);

/// Calls `visit` for the node of every kind.
template <class Visitor>
void visit_nodes(ClusterSpec& spec, const Visitor& visit) {
  visit(spec.node);
  for (NodeKind& kind : spec.more_nodes) visit(kind.node);
}

}  // namespace foretrain
