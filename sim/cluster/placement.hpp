// The assignment of a job's ranks to GPUs.
#pragma once

#include <vector>

namespace foretrain {

/// Layout of ranks on nodes. packed fills a node before the next one; spread distributes them evenly.
enum class Layout { packed, spread };

/// A GPU of the cluster: its node and its number in the node, both from 0.
struct GpuPlace {
  int node = 0;
  int gpu = 0;
  friend bool operator==(const GpuPlace&, const GpuPlace&) = default;
};

/// The GPU of each rank, by rank. No GPU occurs twice.
struct Placement {
  std::vector<GpuPlace> ranks;
  /// Number of nodes that hold a rank.
  int nodes = 1;
  int size() const { return static_cast<int>(ranks.size()); }
};

/// Places ranks on equal nodes. packed fills node after node. spread uses `nodes` nodes as evenly as
/// possible, with consecutive ranks on one node. Requires 1 <= gpus <= nodes * gpus_per_node.
Placement place(int gpus, int gpus_per_node, Layout layout, int nodes);
/// A node of a job, with its number of GPUs.
struct NodeCapacity {
  int node = 0, gpus = 0;
};
/// Places ranks on nodes that are not alike, in their order. spread gives each node in turn a rank while it
/// has a free GPU; consecutive ranks are on one node. Requires that the nodes have GPUs for all ranks.
Placement place_on(const std::vector<NodeCapacity>& rooms, int gpus, Layout layout);
/// Places ranks packed on as few nodes as possible.
Placement place_packed(int gpus, int gpus_per_node);

}  // namespace foretrain
