// The links of a cluster, held once per node layout and in twelve bytes each for the fabric, so that 100,000
// GPUs fit a cache better than a list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// One direction of a connection. Ids are LinkIds of the network.
struct ClusterLink {
  VertexId from, to;
  LinkKind kind;
  ByteRate bandwidth;
  double collective_efficiency;
  Time latency;
};

/// Reads like a vector of ClusterLink: those of node 0, of node 1, …, then those of the fabric.
class ClusterLinks {
 public:
  ClusterLinks() = default;
  /// `nodes` copies of the links of one node, whose vertices are `vertices_per_node` apart.
  ClusterLinks(std::vector<ClusterLink> of_node, int nodes, std::uint32_t vertices_per_node);

  std::size_t size() const { return in_nodes_ + fabric_.size(); }
  ClusterLink operator[](std::size_t id) const;
  /// Of a link of the fabric everything but its ends, which mean nothing here.
  const ClusterLink& of_fabric(std::size_t id) const { return types_[fabric_[id - in_nodes_].type]; }
  /// The least bandwidth of any link; infinite when there is none.
  double slowest() const;
  /// The links of node 0.
  std::span<const ClusterLink> of_first_node() const { return of_node_; }

  void reserve_fabric(std::size_t links) { fabric_.reserve(links); }
  /// Appends one direction of `count` parallel network links of a type.
  void add(VertexId from, VertexId to, const LinkType& type, int count);

 private:
  struct FabricRow {
    VertexId from, to;
    std::uint32_t type;
  };
  std::uint32_t number_of(const ClusterLink& type);

  std::vector<ClusterLink> of_node_;
  std::size_t in_nodes_ = 0;
  std::uint32_t vertices_per_node_ = 0;
  std::vector<FabricRow> fabric_;
  std::vector<ClusterLink> types_;  ///< what the rows have in common; their ends mean nothing
};

}  // namespace foretrain
