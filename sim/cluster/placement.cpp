// Both layouts fill nodes in order; they differ in the number of ranks of a node.
#include "sim/cluster/placement.hpp"

#include <algorithm>
#include <cassert>

namespace foretrain {

Placement place(int gpus, int gpus_per_node, Layout layout, int nodes) {
  assert(gpus >= 1 && gpus_per_node >= 1 && nodes >= 1);
  assert((gpus + gpus_per_node - 1) / gpus_per_node <= nodes);
  const int used = layout == Layout::packed ? (gpus - 1) / gpus_per_node + 1 : std::min(nodes, gpus);
  Placement placement;
  placement.nodes = used;
  placement.ranks.reserve(static_cast<std::size_t>(gpus));
  int left = gpus;
  for (int node = 0; node < used; ++node) {
    const int here =
        layout == Layout::packed ? std::min(left, gpus_per_node) : gpus / used + (node < gpus % used ? 1 : 0);
    for (int gpu = 0; gpu < here; ++gpu) placement.ranks.push_back({node, gpu});
    left -= here;
  }
  return placement;
}

namespace {

/// Returns the ranks of each node when every node in turn takes one.
std::vector<int> dealt_out(const std::vector<NodeCapacity>& rooms, int gpus) {
  std::vector<int> ranks(rooms.size(), 0);
  for (int left = gpus; left > 0;) {
    const int before = left;
    for (std::size_t i = 0; i < rooms.size() && left > 0; ++i) {
      if (ranks[i] < rooms[i].gpus) ++ranks[i], --left;
    }
    if (left == before) break;
  }
  return ranks;
}

/// Returns the ranks of each node when every node is filled before the next one.
std::vector<int> filled_up(const std::vector<NodeCapacity>& rooms, int gpus) {
  std::vector<int> ranks;
  for (const NodeCapacity& room : rooms) {
    ranks.push_back(std::min(gpus, room.gpus));
    gpus -= ranks.back();
  }
  return ranks;
}

}  // namespace

Placement place_on(const std::vector<NodeCapacity>& rooms, int gpus, Layout layout) {
  const std::vector<int> ranks = layout == Layout::packed ? filled_up(rooms, gpus) : dealt_out(rooms, gpus);
  Placement placement;
  placement.nodes = 0;
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    for (int gpu = 0; gpu < ranks[i]; ++gpu) placement.ranks.push_back({rooms[i].node, gpu});
    placement.nodes += ranks[i] > 0 ? 1 : 0;
  }
  assert(placement.size() == gpus);
  return placement;
}

Placement place_packed(int gpus, int gpus_per_node) {
  return place(gpus, gpus_per_node, Layout::packed, (gpus - 1) / gpus_per_node + 1);
}

}  // namespace foretrain
