// Shortest paths under forwarding rules.
//
// Traffic inside a node does not take the shortest path in general, because hardware forwards only through
// some devices. NVLink traffic passes NVSwitches and no GPU. Host traffic passes CPUs and PCIe switches and
// no GPU. There are therefore two problems: one over NVLink alone, and one over everything but NVLink between
// GPUs. In each, all links that leave a device which must not be passed are closed, unless that device is the
// source. An ordinary shortest-path search (Dijkstra, O(E log V) for each source) then finds the legal paths.
//
// Costs are integers in ps plus a penalty for each hop, so that ties are broken in the same way on every
// machine. Routes are computed once for each type of node and reused for all nodes of the type.
#include "sim/cluster/routing.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>

namespace foretrain {

namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                    boost::property<boost::edge_index_t, std::size_t>>;
using Cost = std::int64_t;
/// Cost of a closed link, and of a device that cannot be reached.
constexpr Cost kClosed = std::numeric_limits<Cost>::max();
/// 10 ns in ps: fewer hops win between paths of nearly equal latency.
constexpr Cost kHostHop = 10'000;
/// 1 s in ps: the number of hops comes first, latency breaks ties.
constexpr Cost kNvlinkHop = 1'000'000'000'000;

bool passes_nvlink(VertexKind kind) { return kind == VertexKind::nvswitch; }
bool passes_host(VertexKind kind) { return kind == VertexKind::cpu || kind == VertexKind::pcie_switch; }

/// A shortest-path problem: the usable links, their costs, and the devices that may be passed.
struct Search {
  bool (*may_pass)(VertexKind);
  Graph graph;
  /// The link of each edge.
  std::vector<LinkId> links;
  /// The cost of each edge, in ps.
  std::vector<Cost> costs;
};

/// Makes the problem over NVLinks alone, or over all links but NVLinks between GPUs. Of parallel links the
/// fastest counts.
Search make_search(const NodeGraph& node, bool nvlink_only, bool (*may_pass)(VertexKind), Cost per_hop) {
  std::map<std::pair<VertexId, VertexId>, LinkId> fastest;
  for (LinkId id = 0; id < node.links.size(); ++id) {
    const ClusterLink& link = node.links[id];
    const bool is_peer_link = link.kind == LinkKind::nvlink &&
                              node.vertices[link.from].kind == VertexKind::gpu &&
                              node.vertices[link.to].kind == VertexKind::gpu;
    if (nvlink_only ? link.kind != LinkKind::nvlink : is_peer_link) continue;
    const auto [known, is_new] = fastest.try_emplace({link.from, link.to}, id);
    if (!is_new && link.bandwidth > node.links[known->second].bandwidth) known->second = id;
  }
  Search search{may_pass, Graph(node.vertices.size()), {}, {}};
  for (const auto& [ends, id] : fastest) {
    boost::add_edge(ends.first, ends.second, search.links.size(), search.graph);
    search.links.push_back(id);
    search.costs.push_back(node.links[id].latency.count() + per_hop);
  }
  return search;
}

/// Shortest paths from one source: cost and predecessor of each vertex.
struct Tree {
  VertexId source;
  std::vector<Cost> cost;
  std::vector<Graph::vertex_descriptor> before;
};

/// Runs Dijkstra's algorithm from one source. Links that leave a device which must not be passed are closed
/// first.
Tree shortest_paths(const Search& search, const NodeGraph& node, VertexId source) {
  std::vector<Cost> costs = search.costs;
  for (std::size_t edge = 0; edge < costs.size(); ++edge) {
    const VertexId leaves = node.links[search.links[edge]].from;
    if (leaves != source && !search.may_pass(node.vertices[leaves].kind)) costs[edge] = kClosed;
  }
  Tree tree{source, std::vector<Cost>(node.vertices.size()),
            std::vector<Graph::vertex_descriptor>(node.vertices.size())};
  const auto edge_index = boost::get(boost::edge_index, search.graph);
  boost::dijkstra_shortest_paths(
      search.graph, source,
      boost::predecessor_map(tree.before.data())
          .distance_map(tree.cost.data())
          .distance_inf(kClosed)
          .distance_combine(boost::closed_plus<Cost>(kClosed))
          .weight_map(boost::make_iterator_property_map(costs.begin(), edge_index)));
  return tree;
}

/// Returns the links of the path to a vertex; empty if it cannot be reached.
std::vector<LinkId> path_to(const Search& search, const Tree& tree, VertexId to) {
  std::vector<LinkId> links;
  if (tree.cost[to] == kClosed) return links;
  for (Graph::vertex_descriptor at = to; at != tree.source; at = tree.before[at]) {
    const auto edge = boost::edge(tree.before[at], at, search.graph).first;
    links.push_back(search.links[boost::get(boost::edge_index, search.graph, edge)]);
  }
  std::reverse(links.begin(), links.end());
  return links;
}

bool is_gpu(const NodeGraph& node, std::size_t vertex) {
  return node.vertices[vertex].kind == VertexKind::gpu;
}

/// Returns the CPU with the least cost in the tree, or the number of vertices if none is reached.
std::size_t nearest_cpu(const NodeGraph& node, const Tree& tree) {
  std::size_t nearest = node.vertices.size();
  for (std::size_t v = 0; v < node.vertices.size(); ++v) {
    if (node.vertices[v].kind != VertexKind::cpu || tree.cost[v] == kClosed) continue;
    if (nearest == node.vertices.size() || tree.cost[v] < tree.cost[nearest]) nearest = v;
  }
  return nearest;
}

/// Returns whether the route passes a CPU between two links that are not NVLinks: peers on different root
/// complexes.
bool passes_root_complex(std::span<const LinkId> way, const NodeGraph& node) {
  for (std::size_t i = 0; i + 1 < way.size(); ++i) {
    const ClusterLink &in = node.links[way[i]], &out = node.links[way[i + 1]];
    if (node.vertices[in.to].kind == VertexKind::cpu && in.kind != LinkKind::nvlink &&
        out.kind != LinkKind::nvlink)
      return true;
  }
  return false;
}

/// Limits the collective efficiency of routes over a root complex to kRootComplexShare of the narrowest link.
void slow_down_peers(std::vector<Route>& routes, const NodeGraph& node) {
  for (Route& route : routes) {
    if (!passes_root_complex(route.links, node)) continue;
    double narrowest = std::numeric_limits<double>::infinity();
    for (const LinkId link : route.links)
      narrowest = std::min(narrowest, node.links[link].bandwidth.per_second);
    route.collective_efficiency =
        std::min(route.collective_efficiency, kRootComplexShare * narrowest / route.bandwidth.per_second);
  }
}

/// Replaces PCIe routes between GPUs that are beyond reach by the route through host memory: the sender's
/// staging link, up to its nearest CPU, down to the receiver, and the receiver's staging link.
void stage(std::vector<Route>& routes, const NodeGraph& node, const std::vector<Tree>& host,
           PathClass reach) {
  const std::size_t n = node.vertices.size();
  for (std::size_t from = 0; from < n; ++from) {
    const std::size_t cpu = is_gpu(node, from) ? nearest_cpu(node, host[from]) : n;
    if (cpu == n) continue;
    for (std::size_t to = 0; to < n; ++to) {
      Route& route = routes[from * n + to];
      if (from == to || !is_gpu(node, to) || route.nvlink_only ||
          route_class(route.links, node.vertices, node.links) <= reach)
        continue;
      const std::vector<LinkId>& down = routes[cpu * n + to].links;
      if (down.empty()) continue;
      const VertexId sender = static_cast<VertexId>(from), receiver = static_cast<VertexId>(to);
      std::vector<LinkId> links{node.staging_out(sender)};
      const std::vector<LinkId>& up = routes[from * n + cpu].links;
      links.insert(links.end(), up.begin(), up.end());
      links.insert(links.end(), down.begin(), down.end());
      links.push_back(node.staging_in(receiver));
      route = make_route(std::move(links), node.links);
      route.staged = true;
    }
  }
}

}  // namespace

PathClass route_class(std::span<const LinkId> way, std::span<const Vertex> vertices,
                      std::span<const ClusterLink> all) {
  if (way.empty()) return PathClass::loc;
  int switches = 0, cpus = 0;
  bool crosses_sockets = false, all_nvlink = true;
  const auto count = [&](VertexId vertex) {
    switches += vertices[vertex].kind == VertexKind::pcie_switch ? 1 : 0;
    cpus += vertices[vertex].kind == VertexKind::cpu ? 1 : 0;
  };
  count(all[way.front()].from);
  for (const LinkId id : way) {
    crosses_sockets = crosses_sockets || all[id].kind == LinkKind::socket;
    all_nvlink = all_nvlink && all[id].kind == LinkKind::nvlink;
    count(all[id].to);
  }
  if (crosses_sockets) return PathClass::sys;
  if (all_nvlink) return PathClass::c2c;
  if (cpus > 0) return PathClass::phb;
  return switches > 1 ? PathClass::pxb : PathClass::pix;
}

PathClass peer_reach(const NodeSpec& node) {
  if (!node.peer_access) return PathClass::loc;
  const bool trusted = node.host.family == HostFamily::amd || node.host.family == HostFamily::power9;
  return trusted ? PathClass::sys : PathClass::pxb;
}

Route route_of(std::vector<LinkId> links, const RouteSum& sum) {
  Route route{std::move(links),    sum.latency, sum.bandwidth, sum.collective_efficiency,
              sum.crosses_network, false,       false,         sum.pcie_hops};
  route.nvlink_only = sum.nvlink_only && !route.links.empty();
  return route;
}

Route make_route(std::vector<LinkId> links, std::span<const ClusterLink> all) {
  RouteSum sum;
  for (const LinkId id : links) sum.add(all[id]);
  return route_of(std::move(links), sum);
}

NodeRoutes node_routes(const NodeGraph& node, PathClass peer_reach) {
  const std::size_t n = node.vertices.size();
  const Search nvlink = make_search(node, true, passes_nvlink, kNvlinkHop);
  const Search host = make_search(node, false, passes_host, kHostHop);
  NodeRoutes routes;
  std::vector<Tree> host_trees;
  routes.best.reserve(n * n);
  routes.host.reserve(n * n);
  for (VertexId from = 0; from < n; ++from) {
    const Tree over_nvlink = shortest_paths(nvlink, node, from);
    host_trees.push_back(shortest_paths(host, node, from));
    for (VertexId to = 0; to < n; ++to) {
      std::vector<LinkId> links =
          is_gpu(node, from) && is_gpu(node, to) ? path_to(nvlink, over_nvlink, to) : std::vector<LinkId>{};
      routes.host.push_back(make_route(path_to(host, host_trees.back(), to), node.links));
      routes.best.push_back(links.empty() ? routes.host.back() : make_route(std::move(links), node.links));
    }
  }
  slow_down_peers(routes.best, node);
  slow_down_peers(routes.host, node);
  stage(routes.best, node, host_trees, peer_reach);
  return routes;
}

}  // namespace foretrain
