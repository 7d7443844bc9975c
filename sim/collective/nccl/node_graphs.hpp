// The result of NCCL's search on one node for a set of its GPUs, and a cache of such results, so that equal
// nodes are searched once.
#pragma once

#include <list>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/graph.hpp"
#include "sim/collective/nccl/settings.hpp"

namespace foretrain::nccl {

/// The graphs of one node. A graph without channels was not found or not requested.
struct NodeGraphs {
  GraphResult ring, tree, nvls, collnet_chain, collnet_direct;
  /// NVLinks between the narrowest pair of GPUs; 0: one GPU.
  int nvlinks = 0;
  /// Every pair of GPUs is joined by NVLink.
  bool all_on_nvlink = true;
  friend bool operator==(const NodeGraphs&, const NodeGraphs&) = default;
};

/// The input of the search: equal requests have equal graphs. What the search does not read keeps its
/// default: names, rates that NCCL does not use, and settings that apply only after the channels are known.
struct NodeGraphRequest {
  /// GPU indices of the node, ascending.
  std::vector<int> gpus;
  bool several_nodes = false;
  /// The fabric reduces.
  bool reduces = false;
  Settings settings;
  LinkType network;
  NodeSpec node;
  friend bool operator==(const NodeGraphRequest&, const NodeGraphRequest&) = default;
};

/// Returns the request for nodes of the cluster's first kind.
NodeGraphRequest question_of(const ClusterSpec& cluster, std::vector<int> gpus, bool several_nodes,
                             const Settings& settings);
/// Returns the request for a node of another kind. `nic_link` leads from its NICs to the fabric.
NodeGraphRequest question_of(const ClusterSpec& cluster, const NodeSpec& node, const LinkType& nic_link,
                             std::vector<int> gpus, bool several_nodes, const Settings& settings);

/// Searches without a cache. Requires at least one GPU.
NodeGraphs search_node(const NodeGraphRequest& question);

/// Returns whether CollNet is available by settings and hardware.
bool has_collnet(const NodeGraphRequest& question);

/// Results of searches, for any number of clusters. Not thread-safe.
class NodeGraphCache {
 public:
  /// Returns the graphs of the request; searches if they are not known. The reference is valid as long as the
  /// cache.
  const NodeGraphs& graphs(NodeGraphRequest question);
  /// Returns the number of requests that were searched.
  int searches() const { return static_cast<int>(known_.size()); }

 private:
  struct Entry {
    NodeGraphRequest question;
    NodeGraphs graphs;
  };
  std::list<Entry> known_;
};

}  // namespace foretrain::nccl
