// Which GPU each rank of a job gets.
#pragma once

#include <vector>

namespace foretrain {

enum class Layout { packed, spread };

struct GpuPlace {
  int node = 0;
  int gpu = 0;
  friend bool operator==(const GpuPlace&, const GpuPlace&) = default;
};

struct Placement {
  std::vector<GpuPlace> ranks;
  int nodes = 1;
  int size() const { return static_cast<int>(ranks.size()); }
};

/// packed: fills node after node. spread: over `nodes` nodes as evenly as possible, consecutive ranks on one
/// node. Requires 1 <= gpus and enough room: gpus <= nodes * gpus_per_node.
Placement place(int gpus, int gpus_per_node, Layout layout, int nodes);
/// packed on as few nodes as possible.
Placement place_packed(int gpus, int gpus_per_node);

}  // namespace foretrain
