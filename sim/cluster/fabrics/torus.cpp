// There is a router for each nodes_per_router nodes, at every point of a grid whose edges are closed to
// rings.
//
// Routing is dimension-ordered: first along dimension 0 to the right coordinate, by the shorter direction
// (upward when both are equal), then along dimension 1, and so on.
#include "sim/cluster/fabrics/torus.hpp"

#include <array>

#include "sim/cluster/fabrics/nic_links.hpp"
#include "sim/cluster/fabrics/parameters.hpp"

namespace foretrain {

namespace {

/// The dimensions with more than one router. A dimension of one router has no links and is left out.
struct Grid {
  explicit Grid(const Torus& own) {
    for (const int extent : own.dimensions) {
      if (extent < 2) continue;
      extents[static_cast<std::size_t>(dimensions++)] = extent;
      routers *= extent;
    }
  }
  std::array<int, kMostDimensions> extents{};
  int dimensions = 0;
  int routers = 1;
};

/// Returns the upward link of a router along a dimension; the next number is its other direction.
LinkId link_upward(const FabricSite& site, const Grid& grid, int router, int dimension) {
  return after_nic_links(site) + 2 * static_cast<LinkId>(router * grid.dimensions + dimension);
}

/// Returns the router one step along a dimension. `stride` is the difference of the numbers of neighbours.
int neighbour(int router, int extent, int stride, int step) {
  const int at = router / stride % extent;
  return router + ((at + step + extent) % extent - at) * stride;
}

std::vector<ClusterFault> check_torus(const ClusterSpec& spec) {
  const Torus& own = spec.fabric.get<Torus>();
  std::vector<ClusterFault> faults;
  if (own.dimensions.empty())
    return {{"a torus needs dimensions", "dimensions = [8, 8, 8] is a cube of 512 routers"}};
  if (own.dimensions.size() > kMostDimensions) return {{"a torus has at most six dimensions", ""}};
  std::int64_t routers = 1;
  for (const int extent : own.dimensions) {
    if (extent < 1) return {{"a dimension of the torus is less than one", ""}};
    if ((routers *= extent) > kMostNodes)
      return {{"the torus has too many routers", "the product of its dimensions may be 100000"}};
  }
  require_capacity(faults, "torus", routers * own.nodes_per_router, spec.nodes,
                   "raise dimensions or nodes_per_router");
  return faults;
}

void build_torus(const FabricSpec& spec, const FabricSite& site, FabricParts parts) {
  const Torus& own = spec.get<Torus>();
  const Grid grid(own);
  for (int router = 0; router < grid.routers; ++router)
    parts.vertices.push_back({VertexKind::router, -1, router});
  add_nic_links(spec, site, own.nodes_per_router, parts.links);
  for (int router = 0; router < grid.routers; ++router) {
    int stride = 1;
    for (int d = 0; d < grid.dimensions; ++d) {
      const int extent = grid.extents[static_cast<std::size_t>(d)];
      add_both_directions(parts.links, site.first_switch + static_cast<VertexId>(router),
                          site.first_switch + static_cast<VertexId>(neighbour(router, extent, stride, 1)),
                          uplink_of(spec));
      stride *= extent;
    }
  }
}

int route_torus(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to,
                std::vector<LinkId>& links) {
  const Torus& own = spec.get<Torus>();
  const Grid grid(own);
  const int target = to.node / own.nodes_per_router;
  int router = from.node / own.nodes_per_router, stride = 1, hops = 0;
  links.push_back(link_up(site, from));
  for (int d = 0; d < grid.dimensions; ++d) {
    const int extent = grid.extents[static_cast<std::size_t>(d)];
    const int upward = (target / stride % extent - router / stride % extent + extent) % extent;
    const bool up = 2 * upward <= extent;
    // A downward link belongs to the lower router, which is the next one.
    for (int left = up ? upward : extent - upward; left > 0; --left, ++hops) {
      const int next = neighbour(router, extent, stride, up ? 1 : -1);
      links.push_back(link_upward(site, grid, up ? router : next, d) + (up ? 0 : 1));
      router = next;
    }
    stride *= extent;
  }
  links.push_back(link_down(site, to));
  return hops + 1;
}

}  // namespace

Fabric torus_fabric() {
  return {"torus",
          "a grid of routers closed to rings: dimensions, nodes_per_router",
          check_torus,
          build_torus,
          route_torus,
          true,
          {{"dimensions", "required", "routers in each direction, as in [4, 4]",
            fabric_option<&Torus::dimensions>()},
           {"nodes_per_router", "1", "nodes at a router", fabric_option<&Torus::nodes_per_router>()}}};
}

}  // namespace foretrain
