// A fabric as a list of links between named switches and NICs, for networks that no formula describes.
//
// Distances between all switches are found once, by breadth-first search from each of them: O(switches ×
// links). A route then steps to a switch that is one link nearer to the target; path_number() chooses among
// several. The distance falls by one in every step, so a route always ends.
#include "sim/cluster/fabrics/explicit.hpp"

#include <charconv>
#include <deque>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/names.hpp"
#include "sim/cluster/fabrics/nic_links.hpp"
#include "sim/cluster/fabrics/parameters.hpp"

namespace foretrain {

namespace {

/// Limit of switches; the table of distances grows with its square.
constexpr std::size_t kMostSwitches = 1024;
/// Switch of a NIC that is not connected.
constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
/// Distance of a switch that cannot be reached.
constexpr std::uint16_t kUnreached = std::numeric_limits<std::uint16_t>::max();

/// NICs by name, as in "node3.nic0", "node0-17.nic1" or "node4": nodes first to last, and one NIC or (-1) all
/// NICs.
struct NicRange {
  int first = 0, last = 0, nic = -1;
};

/// Takes a number from the front of the text. Returns false if there is none.
bool take_number(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

/// Takes the word from the front of the text. Returns false if it is not there.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// Returns the NICs that the text names, or nothing for any other name, which is that of a switch.
std::optional<NicRange> nic_range(std::string_view text) {
  NicRange range;
  if (!take(text, "node") || !take_number(text, range.first)) return std::nullopt;
  range.last = range.first;
  if (take(text, "-") && !take_number(text, range.last)) return std::nullopt;
  if (take(text, ".nic") && !take_number(text, range.nic)) return std::nullopt;
  return text.empty() ? std::optional(range) : std::nullopt;
}

/// The graph in numbers. Switches are numbered by their first mention; each NIC has its switch and the link
/// to it.
struct ExplicitGraph {
  struct Connection {
    std::uint32_t a, b;
    const FabricLink* link;
  };
  std::map<std::string, std::uint32_t, std::less<>> switches;
  std::vector<Connection> connections;
  std::vector<std::uint32_t> switch_of_nic;
  std::vector<const FabricLink*> link_of_nic;
  std::vector<ClusterFault> faults;

  ExplicitGraph(const ExplicitFabric& own, int nodes, int nics) : nodes_(nodes), nics_(nics) {
    const std::size_t ports = static_cast<std::size_t>(nodes) * static_cast<std::size_t>(nics);
    switch_of_nic.assign(ports, kNowhere);
    link_of_nic.assign(ports, nullptr);
    for (const FabricLink& link : own.graph) add(link);
  }

 private:
  /// Enters a link: between two switches, or between a switch and NICs.
  void add(const FabricLink& link) {
    const auto a = nic_range(link.a), b = nic_range(link.b);
    if (a && b)
      return fault(link, fmt::format("the link {} - {} joins two NICs", link.a, link.b),
                   "put a switch between them");
    if (a || b) return attach(link, a ? *a : *b, number_of(a ? link.b : link.a));
    if (link.a == link.b)
      return fault(link, fmt::format("a link from {} to itself", link.a),
                   "a link connects two different switches");
    connections.push_back({number_of(link.a), number_of(link.b), &link});
  }

  /// Connects each NIC of the range to the switch. Nodes beyond those in use are ignored here; check_parts()
  /// reports them.
  void attach(const FabricLink& link, NicRange range, std::uint32_t to) {
    if (range.first > range.last || range.nic >= nics_)
      return fault(link, fmt::format("the link {} - {} names NICs that a node does not have", link.a, link.b),
                   fmt::format("nodes have {} NICs, nic0 to nic{}", nics_, nics_ - 1));
    const int first_nic = std::max(range.nic, 0), end_nic = range.nic < 0 ? nics_ : range.nic + 1;
    for (int node = range.first; node <= std::min(range.last, nodes_ - 1); ++node) {
      for (int nic = first_nic; nic < end_nic; ++nic) {
        const std::size_t port =
            static_cast<std::size_t>(node) * static_cast<std::size_t>(nics_) + static_cast<std::size_t>(nic);
        if (switch_of_nic[port] != kNowhere)
          return fault(link, fmt::format("node{}.nic{} is connected twice", node, nic),
                       "a NIC has one link; count = 2 doubles it");
        switch_of_nic[port] = to, link_of_nic[port] = &link;
      }
    }
  }

  std::uint32_t number_of(const std::string& name) {
    return switches.try_emplace(name, static_cast<std::uint32_t>(switches.size())).first->second;
  }

  void fault(const FabricLink& link, std::string message, std::string hint) {
    faults.push_back({std::move(message), std::move(hint), -1, link.span});
  }

  int nodes_, nics_;
};

/// Fills the edges by switch, in the order of the connections. `first_link` is the number of the first
/// connection's first direction.
void fill_edges(FabricMap& map, const ExplicitGraph& graph, LinkId first_link) {
  std::vector<std::uint32_t> next(graph.switches.size() + 1);
  for (const ExplicitGraph::Connection& c : graph.connections) ++next[c.a + 1], ++next[c.b + 1];
  for (std::size_t s = 1; s < next.size(); ++s) next[s] += next[s - 1];
  // Counting sort: `next` moves on from the first edge of each switch while edges are entered.
  map.first_edge = next;
  map.edges.resize(2 * graph.connections.size());
  for (const ExplicitGraph::Connection& c : graph.connections) {
    map.edges[next[c.a]++] = {c.b, first_link};
    map.edges[next[c.b]++] = {c.a, first_link + 1};
    first_link += 2;
  }
}

/// Finds the distances of all switches from one by breadth-first search.
void fill_distances(const FabricMap& map, std::uint32_t from, std::span<std::uint16_t> distance) {
  std::fill(distance.begin(), distance.end(), kUnreached);
  std::deque<std::uint32_t> open{from};
  distance[from] = 0;
  for (; !open.empty(); open.pop_front()) {
    const std::uint32_t at = open.front();
    for (std::uint32_t e = map.first_edge[at]; e < map.first_edge[at + 1]; ++e) {
      std::uint16_t& there = distance[map.edges[e].to];
      if (there != kUnreached) continue;
      there = static_cast<std::uint16_t>(distance[at] + 1);
      open.push_back(map.edges[e].to);
    }
  }
}

/// Checks the links one by one, and the number of switches.
void check_parts(std::vector<ClusterFault>& faults, const ClusterSpec& spec, const ExplicitGraph& graph) {
  const ExplicitFabric& own = spec.fabric.get<ExplicitFabric>();
  for (const FabricLink& link : own.graph) {
    if (link.count < 1 || !(link.type.bandwidth.per_second > 0))
      faults.push_back({fmt::format("the link {} - {} has no bandwidth", link.a, link.b), ""});
    for (const std::string& end : {link.a, link.b}) {
      const auto range = nic_range(end);
      if (range && range->last >= spec.nodes)
        faults.push_back({fmt::format("there is no node{} in the cluster", range->last),
                          fmt::format("it has {}, from node0 on", counted(spec.nodes, "node")), -1,
                          link.span});
    }
  }
  if (graph.switches.size() > kMostSwitches)
    faults.push_back({fmt::format("an explicit fabric has at most {} switches", kMostSwitches), ""});
}

/// Checks that every NIC is at a switch that can be reached from the first NIC. Reports the first failure
/// only.
void check_connected(std::vector<ClusterFault>& faults, const ExplicitGraph& graph, int nics) {
  FabricMap map;
  fill_edges(map, graph, 0);
  std::vector<std::uint16_t> distance(graph.switches.size());
  if (!graph.switches.empty() && graph.switch_of_nic[0] != kNowhere)
    fill_distances(map, graph.switch_of_nic[0], distance);
  for (std::size_t port = 0; port < graph.switch_of_nic.size(); ++port) {
    const std::string name = fmt::format("node{}.nic{}", port / static_cast<std::size_t>(nics),
                                         port % static_cast<std::size_t>(nics));
    if (graph.switch_of_nic[port] == kNowhere)
      return faults.push_back(
          {fmt::format("{} is not connected", name), R"(add a pair, as in ["leaf0", "node0-17.nic0"])"});
    if (distance[graph.switch_of_nic[port]] == kUnreached)
      return faults.push_back(
          {fmt::format("{} cannot be reached from node0.nic0", name), "connect their switches"});
  }
}

std::vector<ClusterFault> check_explicit(const ClusterSpec& spec) {
  const ExplicitFabric& own = spec.fabric.get<ExplicitFabric>();
  if (own.graph.empty())
    return {{"an explicit fabric needs links",
             R"(add [[fabric.links]] with pairs = [["leaf0", "node0-17"], ["leaf0", "spine0"]])"}};
  if (spec.nodes < 1 || spec.node.nics < 1) return {};
  const ExplicitGraph graph(own, spec.nodes, spec.node.nics);
  std::vector<ClusterFault> faults = graph.faults;
  check_parts(faults, spec, graph);
  if (faults.empty()) check_connected(faults, graph, spec.node.nics);
  return faults;
}

void build_explicit(const FabricSpec& spec, const FabricSite& site, FabricParts parts) {
  const ExplicitFabric& own = spec.get<ExplicitFabric>();
  const ExplicitGraph graph(own, site.nodes, site.nics);
  const std::size_t switches = graph.switches.size();
  for (std::size_t s = 0; s < switches; ++s)
    parts.vertices.push_back({VertexKind::router, -1, static_cast<int>(s)});
  for (std::size_t port = 0; port < graph.switch_of_nic.size(); ++port) {
    const std::size_t nics = static_cast<std::size_t>(site.nics);
    const VertexId nic = site.first_nic + static_cast<VertexId>(port / nics) * site.vertices_per_node +
                         static_cast<VertexId>(port % nics);
    const FabricLink& link = *graph.link_of_nic[port];
    add_both_directions(parts.links, nic, site.first_switch + graph.switch_of_nic[port], link.type,
                        link.count);
  }
  for (const ExplicitGraph::Connection& c : graph.connections)
    add_both_directions(parts.links, site.first_switch + c.a, site.first_switch + c.b, c.link->type,
                        c.link->count);
  parts.map.switch_of_nic = graph.switch_of_nic;
  fill_edges(parts.map, graph, after_nic_links(site));
  parts.map.distance.resize(switches * switches);
  for (std::uint32_t s = 0; s < switches; ++s)
    fill_distances(parts.map, s, std::span(parts.map.distance).subspan(s * switches, switches));
}

/// Returns the edge to take from a switch: one of those that lead nearer to the target, chosen by `path`.
/// Requires that the target can be reached.
const FabricMap::Edge& next_edge(const FabricMap& map, std::uint32_t at, std::uint32_t target,
                                 std::uint64_t path) {
  const std::size_t switches = map.first_edge.size() - 1;
  // Links have two directions, so the distance from the target is the distance to it.
  const std::uint16_t* distance = map.distance.data() + std::size_t{target} * switches;
  const auto leads_nearer = [&](std::uint32_t e) { return distance[map.edges[e].to] + 1 == distance[at]; };
  std::uint64_t choices = 0;
  for (std::uint32_t e = map.first_edge[at]; e < map.first_edge[at + 1]; ++e)
    choices += leads_nearer(e) ? 1 : 0;
  std::uint64_t skipped = path % choices;
  std::uint32_t e = map.first_edge[at];
  while (!leads_nearer(e) || skipped-- > 0) ++e;
  return map.edges[e];
}

int route_explicit(const FabricSpec& spec, const FabricSite& site, FabricPort from, FabricPort to,
                   std::vector<LinkId>& links) {
  const FabricMap& map = *site.map;
  const auto switch_of = [&](FabricPort port) {
    return map.switch_of_nic[static_cast<std::size_t>(port.node * site.nics + port.nic)];
  };
  const std::uint64_t path = path_number(spec, site, from, to);
  const std::uint32_t target = switch_of(to);
  int switches = 1;
  links.push_back(link_up(site, from));
  for (std::uint32_t at = switch_of(from); at != target; ++switches) {
    const FabricMap::Edge& edge = next_edge(map, at, target, path);
    links.push_back(edge.link);
    at = edge.to;
  }
  links.push_back(link_down(site, to));
  return switches;
}

/// Returns the types of the listed links.
std::vector<LinkType*> links_of_graph(FabricSpec& spec) {
  std::vector<LinkType*> types;
  for (FabricLink& link : spec.edit<ExplicitFabric>().graph) types.push_back(&link.type);
  return types;
}

}  // namespace

Fabric explicit_fabric() {
  return {"explicit",
          "any graph: [[fabric.links]] with pairs of switches and NICs",
          check_explicit,
          build_explicit,
          route_explicit,
          false,
          {{"links", "required", "every link of the fabric, as tables of `[[fabric.links]]`",
            fabric_option<&ExplicitFabric::graph>()}},
          links_of_graph};
}

}  // namespace foretrain
