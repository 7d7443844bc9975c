// What NCCL's search finds on one node for a set of its GPUs, and a book that keeps it, so that alike nodes
// are searched once.
#pragma once

#include <list>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/graph.hpp"
#include "sim/collective/nccl/settings.hpp"

namespace foretrain::nccl {

/// Of one node. A graph without channels was not found, or is not asked for.
struct NodeGraphs {
  GraphResult ring, tree, nvls, collnet_chain, collnet_direct;
  int nvlinks = 0;            ///< between the narrowest pair of GPUs; 0: one GPU
  bool all_on_nvlink = true;  ///< every pair of GPUs
  friend bool operator==(const NodeGraphs&, const NodeGraphs&) = default;
};

/// Everything that the search reads: two that are equal have equal graphs. What has no say in it (names,
/// rates that NCCL does not book, what is forced or limited once the channels are known) is left at its
/// default.
struct NodeGraphRequest {
  std::vector<int> gpus;  ///< of the node, ascending
  bool several_nodes = false;
  bool reduces = false;  ///< the fabric can
  Settings settings;
  LinkType network;
  NodeSpec node;
  friend bool operator==(const NodeGraphRequest&, const NodeGraphRequest&) = default;
};

NodeGraphRequest question_of(const ClusterSpec& cluster, std::vector<int> gpus, bool several_nodes,
                             const Settings& settings);
/// The same of a node of another kind than the cluster's first; `nic_link`: from its NICs to the fabric.
NodeGraphRequest question_of(const ClusterSpec& cluster, const NodeSpec& node, const LinkType& nic_link,
                             std::vector<int> gpus, bool several_nodes, const Settings& settings);

/// Searches, without any book. Requires at least one GPU.
NodeGraphs search_node(const NodeGraphRequest& question);

/// Whether the settings and the hardware of a question have CollNet.
bool has_collnet(const NodeGraphRequest& question);

/// Answers that were found already; of any number of clusters.
class NodeGraphCache {
 public:
  /// The answer stays where it is as long as the book.
  const NodeGraphs& graphs(NodeGraphRequest question);
  /// Questions that had to be searched.
  int searches() const { return static_cast<int>(known_.size()); }

 private:
  struct Entry {
    NodeGraphRequest question;
    NodeGraphs graphs;
  };
  std::list<Entry> known_;
};

}  // namespace foretrain::nccl
