// Both layouts fill nodes in order; they differ in how many ranks a node gets.
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

Placement place_packed(int gpus, int gpus_per_node) {
  return place(gpus, gpus_per_node, Layout::packed, (gpus - 1) / gpus_per_node + 1);
}

}  // namespace foretrain
