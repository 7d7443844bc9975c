// Kinds are few, so everything is computed when it is needed. Two nodes are the same machine even if their
// links stand at different places of the file.
#include "sim/cluster/node_kinds.hpp"

#include <algorithm>
#include <cassert>

namespace foretrain {

namespace {

/// Returns the entry of a kind other than the first.
const NodeKind& beside(const ClusterSpec& spec, int kind) {
  return spec.more_nodes[static_cast<std::size_t>(kind - 1)];
}

/// Returns the node without the places of its links in the file, for comparisons.
NodeSpec without_places(NodeSpec node) {
  for (NodeLink& link : node.links) link.span = {};
  return node;
}

}  // namespace

int kind_count(const ClusterSpec& spec) { return 1 + static_cast<int>(spec.more_nodes.size()); }

const NodeSpec& node_of_kind(const ClusterSpec& spec, int kind) {
  assert(kind >= 0 && kind < kind_count(spec));
  return kind == 0 ? spec.node : beside(spec, kind).node;
}

const std::string& name_of_kind(const ClusterSpec& spec, int kind) {
  return kind == 0 ? spec.node_kind : beside(spec, kind).name;
}

int nodes_of_kind(const ClusterSpec& spec, int kind) {
  if (kind > 0) return beside(spec, kind).nodes;
  int others = 0;
  for (const NodeKind& other : spec.more_nodes) others += other.nodes;
  return spec.nodes - others;
}

const LinkType& nic_link_of_kind(const ClusterSpec& spec, int kind) {
  return kind > 0 && beside(spec, kind).link ? *beside(spec, kind).link : spec.fabric.link;
}

int first_node_of_kind(const ClusterSpec& spec, int kind) {
  int first = 0;
  for (int before = 0; before < kind; ++before) first += nodes_of_kind(spec, before);
  return first;
}

int kind_of_node(const ClusterSpec& spec, int node) {
  int kind = 0;
  for (int first = nodes_of_kind(spec, 0); kind + 1 < kind_count(spec) && node >= first;)
    first += nodes_of_kind(spec, ++kind);
  return kind;
}

std::optional<int> find_kind(const ClusterSpec& spec, std::string_view name) {
  for (int kind = 0; kind < kind_count(spec); ++kind) {
    if (name_of_kind(spec, kind) == name) return kind;
  }
  return std::nullopt;
}

int first_kind_like(const ClusterSpec& spec, int kind) {
  const NodeSpec own = without_places(node_of_kind(spec, kind));
  for (int before = 0; before < kind; ++before) {
    if (nic_link_of_kind(spec, before) == nic_link_of_kind(spec, kind) &&
        without_places(node_of_kind(spec, before)) == own)
      return before;
  }
  return kind;
}

ClusterSpec as_kind(const ClusterSpec& spec, int kind) {
  ClusterSpec alone = spec;
  alone.more_nodes.clear();
  if (kind == 0) return alone;
  const bool same_gpu = spec.node.gpu == node_of_kind(spec, kind).gpu;
  alone.node = node_of_kind(spec, kind), alone.node_kind = name_of_kind(spec, kind);
  alone.fabric.link = nic_link_of_kind(spec, kind);
  if (!same_gpu) alone.calibration = {}, alone.trainings_measured = false;
  return alone;
}

std::int64_t gpu_count(const ClusterSpec& spec) {
  std::int64_t gpus = 0;
  for (int kind = 0; kind < kind_count(spec); ++kind)
    gpus += std::int64_t{nodes_of_kind(spec, kind)} * node_of_kind(spec, kind).gpus;
  return gpus;
}

int most_gpus_per_node(const ClusterSpec& spec) {
  int most = spec.node.gpus;
  for (const NodeKind& kind : spec.more_nodes) most = std::max(most, kind.node.gpus);
  return most;
}

std::vector<NodeCapacity> node_capacities_of(const ClusterSpec& spec, int nodes) {
  std::vector<NodeCapacity> rooms;
  for (int node = 0; node < nodes; ++node)
    rooms.push_back({node, node_of_kind(spec, kind_of_node(spec, node)).gpus});
  return rooms;
}

NodeSpec largest_node(const ClusterSpec& spec) {
  NodeSpec room;
  room.cpus = 0;
  for (int kind = 0; kind < kind_count(spec); ++kind) {
    const NodeSpec& node = node_of_kind(spec, kind);
    for (int NodeSpec::*count :
         {&NodeSpec::gpus, &NodeSpec::cpus, &NodeSpec::switches, &NodeSpec::nvswitches, &NodeSpec::nics})
      room.*count = std::max(room.*count, node.*count);
  }
  return room;
}

}  // namespace foretrain
