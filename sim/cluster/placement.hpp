// Which GPU each rank of a job gets.
#pragma once

#include <vector>

namespace foretrain {

/// How ranks are laid out on nodes: packed fills a node before the next one; spread deals them out evenly.
enum class Layout { packed, spread };

/// One GPU of the cluster: its node and its number in the node, both from 0.
struct GpuPlace {
  int node = 0;
  int gpu = 0;
  friend bool operator==(const GpuPlace&, const GpuPlace&) = default;
};

/// Which GPU each rank runs on, by rank. No GPU appears twice.
struct Placement {
  std::vector<GpuPlace> ranks;
  int nodes = 1;
  int size() const { return static_cast<int>(ranks.size()); }
};

/// packed: fills node after node. spread: over `nodes` nodes as evenly as possible, consecutive ranks on one
/// node. Requires 1 <= gpus and enough room: gpus <= nodes * gpus_per_node.
Placement place(int gpus, int gpus_per_node, Layout layout, int nodes);
/// A node of a job, and how many GPUs it has.
struct NodeCapacity {
  int node = 0, gpus = 0;
};
/// The same over nodes that are not alike, in their order. spread: each in turn gets a rank as long as it has
/// room, consecutive ranks on one node. Requires that they have room for all.
Placement place_on(const std::vector<NodeCapacity>& rooms, int gpus, Layout layout);
/// packed on as few nodes as possible.
Placement place_packed(int gpus, int gpus_per_node);

}  // namespace foretrain
