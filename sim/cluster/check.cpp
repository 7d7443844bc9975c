// Validation of a cluster description, in the order of dependence.
//
// Counts are checked first, because all other checks loop over them. Names and numbers of links and of the
// fabric follow. Only a description that is right link by link is built as a graph and searched for devices
// that cannot be reached.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/catalog.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/cluster/node_layout.hpp"
#include "sim/cluster/routing.hpp"

namespace foretrain {

namespace {

using Faults = std::vector<ClusterFault>;

/// Limits far above any machine, so that a typing error does not cost an hour of building a graph.
constexpr int kMostLinksPerNode = 4096, kMostParallelLinks = 1024;
constexpr std::int64_t kMostLinks = 20'000'000;
constexpr Time kLongestLatency = std::chrono::seconds(1);

/// Adds a fault if the count is outside [least, most].
void check_count(Faults& faults, std::string_view what, int count, int least, int most) {
  if (count < least)
    faults.push_back({fmt::format("{} must be at least {}, not {}", what, least, count), ""});
  if (count > most) faults.push_back({fmt::format("{} must be at most {}, not {}", what, most, count), ""});
}

void check_node_counts(Faults& faults, const NodeSpec& node) {
  check_count(faults, "the number of GPUs of a node", node.gpus, 1, kMostGpusPerNode);
  check_count(faults, "the number of CPUs of a node", node.cpus, 1, kMostCpusPerNode);
  check_count(faults, "the number of PCIe switches of a node", node.switches, 0, kMostSwitchesPerNode);
  check_count(faults, "the number of NVSwitches of a node", node.nvswitches, 0, kMostSwitchesPerNode);
  check_count(faults, "the number of NICs of a node", node.nics, 0, kMostNicsPerNode);
  check_count(faults, "the number of links of a node",
              static_cast<int>(std::min<std::size_t>(node.links.size(), kMostLinksPerNode + 1)), 0,
              kMostLinksPerNode);
}

/// Runs `check` on the node of every kind, and marks the faults that it adds as belonging to that kind.
template <class Check>
void check_each_kind(Faults& faults, const ClusterSpec& spec, const Check& check) {
  for (int kind = 0; kind < kind_count(spec); ++kind) {
    const std::size_t before = faults.size();
    check(kind, node_of_kind(spec, kind));
    for (std::size_t i = before; i < faults.size(); ++i) faults[i].kind = kind;
  }
}

/// Checks the counts of all kinds, then the size of the whole graph.
void check_counts(Faults& faults, const ClusterSpec& spec) {
  check_count(faults, "the number of nodes", spec.nodes, 1, kMostNodes);
  check_each_kind(faults, spec, [&](int kind, const NodeSpec& node) {
    if (kind > 0) check_count(faults, "the number of nodes", nodes_of_kind(spec, kind), 1, kMostNodes);
    check_node_counts(faults, node);
  });
  const NodeSpec room = largest_node(spec);
  if (faults.empty() && gpu_count(spec) > kMostClusterGpus) {
    faults.push_back(
        {fmt::format("{} nodes of {} GPUs are more than {} GPUs", spec.nodes, room.gpus, kMostClusterGpus),
         ""});
  }
  // A fabric adds at least one connection for every NIC. In the graph every node has as many links as the
  // kind with most.
  std::size_t links = 0;
  for (int kind = 0; kind < kind_count(spec); ++kind)
    links = std::max(links, node_of_kind(spec, kind).links.size());
  const std::int64_t connections = static_cast<std::int64_t>(links) + room.nics;
  if (faults.empty() && 2 * connections * spec.nodes > kMostLinks) {
    faults.push_back({fmt::format("{} nodes with {} connections each are too many", spec.nodes, connections),
                      "describe fewer nodes"});
  }
}

/// Returns what is wrong with the numbers of a link, as the end of a sentence; empty when nothing is.
std::string wrong_numbers(const LinkType& type) {
  const double rate = type.bandwidth.per_second, efficiency = type.collective_efficiency;
  if (!(rate > 0) || !std::isfinite(rate)) return "has no bandwidth";
  if (!(efficiency > 0) || efficiency > 1)
    return fmt::format("has collective_efficiency {}, which is not above 0 and at most 1", efficiency);
  if (type.latency < Time::zero()) return "has a negative latency";
  if (type.latency > kLongestLatency) return "has a latency of more than a second";
  if (type.flow_bandwidth.per_second > rate)
    return fmt::format("has a flow_bandwidth of {}, more than its bandwidth of {}",
                       to_string(type.flow_bandwidth), to_string(type.bandwidth));
  return {};
}

/// Returns the names of all devices of the node. They come from the node's own graph, so that hints list
/// exactly the names that links may use.
std::vector<std::string> device_names(const NodeSpec& node) {
  std::vector<std::string> names;
  NodeSpec without_links = node;
  without_links.links.clear();
  for (const Vertex& vertex : node_graph(without_links).vertices) names.push_back(name_of(vertex));
  return names;
}

std::string between(const NodeLink& link) { return fmt::format("the link {} - {}", link.a, link.b); }

/// Checks that both ends exist and differ. Returns whether they do.
bool check_ends(Faults& faults, const NodeSpec& node, const NodeLink& link, int number) {
  const std::size_t before = faults.size();
  for (const std::string& end : {link.a, link.b}) {
    if (find_device(node, end)) continue;
    faults.push_back({fmt::format("there is no device \"{}\" in the node", end),
                      did_you_mean(end, device_names(node)), number});
    if (link.a == link.b) break;
  }
  if (faults.size() == before && link.a == link.b) {
    faults.push_back(
        {fmt::format("a link from {} to itself", link.a), "a link connects two different devices", number});
  }
  return faults.size() == before;
}

/// Checks the type and the count of a link inside a node.
void check_link_type(Faults& faults, const NodeLink& link, int number) {
  const std::string wrong = wrong_numbers(link.type);
  if (!wrong.empty()) faults.push_back({between(link) + " " + wrong, "", number});
  if (link.count < 1 || link.count > kMostParallelLinks) {
    faults.push_back({fmt::format("{} has count {}", between(link), link.count),
                      fmt::format("count is the number of parallel links, 1 to {}", kMostParallelLinks),
                      number});
  }
  if (link.type.kind == LinkKind::network) {
    faults.push_back({between(link) + " is a network link inside a node",
                      "the fabric connects NICs; inside a node use pcie, nvlink or socket links", number});
  }
  const bool at_nvswitch = link.a.starts_with("nvswitch") || link.b.starts_with("nvswitch");
  if (at_nvswitch && link.type.kind != LinkKind::nvlink)
    faults.push_back({between(link) + " is not an NVLink", "an NVSwitch takes NVLinks only", number});
}

/// Checks every link, and that no pair of devices has two links of one kind.
void check_links(Faults& faults, const NodeSpec& node) {
  std::map<std::tuple<VertexId, VertexId, LinkKind>, int> seen;
  for (std::size_t i = 0; i < node.links.size(); ++i) {
    const NodeLink& link = node.links[i];
    const int number = static_cast<int>(i);
    check_link_type(faults, link, number);
    if (!check_ends(faults, node, link, number)) continue;
    const auto [low, high] = std::minmax({*find_device(node, link.a), *find_device(node, link.b)});
    if (seen.try_emplace({low, high, link.type.kind}, number).second) continue;
    faults.push_back(
        {between(link) + " is there twice", "one link with count = 2 describes two parallel links", number});
  }
}

/// Returns the description with as many NICs as the largest node has, because the fabric has links for all of
/// them.
ClusterSpec with_most_nics(ClusterSpec spec) {
  spec.node.nics = largest_node(spec).nics;
  return spec;
}

void check_names_of_kinds(Faults& faults, const ClusterSpec& spec) {
  for (int kind = 1; kind < kind_count(spec); ++kind) {
    if (find_kind(spec, name_of_kind(spec, kind)) == kind) continue;
    faults.push_back({fmt::format("two kinds of node are called \"{}\"", name_of_kind(spec, kind)),
                      "batches and jobs ask for nodes by these names"});
    faults.back().kind = kind;
  }
}

/// Checks what a fabric cannot have with several kinds of node.
void check_kinds_on(Faults& faults, const ClusterSpec& spec) {
  check_names_of_kinds(faults, spec);
  if (is_mixed(spec) && spec.fabric.nvlink_domain > 1)
    faults.push_back({"an NVLink fabric joins nodes of one kind only", "leave nvlink_domain out"});
  for (int kind = 1; kind < kind_count(spec); ++kind) {
    const NodeKind& own = spec.more_nodes[static_cast<std::size_t>(kind - 1)];
    // Nodes without a link of their own use the fabric's link, which check_fabric_of() checks.
    if (!own.link) continue;
    const std::string wrong = wrong_numbers(*own.link);
    if (!wrong.empty()) faults.push_back({"the link of its NICs " + wrong, "", -1, {}, kind});
    if (spec.fabric.kind == "explicit")
      faults.push_back({"the links of an explicit fabric say themselves of what type they are",
                        "leave link out, and give it to the links that name these nodes",
                        -1,
                        {},
                        kind});
  }
}

/// Checks the kind of fabric, its own parameters, and the links and latencies that all fabrics have.
void check_fabric_of(Faults& faults, const ClusterSpec& spec) {
  const Fabric* fabric = find_fabric(spec.fabric.kind);
  if (fabric == nullptr) {
    std::vector<std::string> known;
    for (const Fabric& row : fabrics()) known.emplace_back(row.name);
    faults.push_back({fmt::format("there is no fabric kind \"{}\"", spec.fabric.kind),
                      did_you_mean(spec.fabric.kind, known)});
    return;
  }
  for (ClusterFault& fault : fabric->check(with_most_nics(spec))) faults.push_back(std::move(fault));
  check_each_kind(faults, spec, [&](int, const NodeSpec& node) {
    if (spec.nodes > 1 && node.nics < 1)
      faults.push_back({"more than one node needs a NIC in every node",
                        "set nics = 1 and connect nic0 to cpu0 or a switch"});
  });
  check_kinds_on(faults, spec);
  if (fabric->name == "none" || spec.node.nics < 1) return;
  const std::string wrong = wrong_numbers(spec.fabric.link);
  if (!wrong.empty())
    faults.push_back({"the link of the fabric " + wrong, "name a network link, say link = \"ib_hdr100\""});
  if (spec.fabric.uplink.bandwidth.per_second != 0) {
    const std::string wrong_uplink = wrong_numbers(spec.fabric.uplink);
    if (!wrong_uplink.empty()) faults.push_back({"the uplink of the fabric " + wrong_uplink, ""});
  }
  if (spec.fabric.switch_latency < Time::zero()) faults.push_back({"the switch latency is negative", ""});
  if (spec.fabric.switch_latency > kLongestLatency)
    faults.push_back({"the switch latency is more than a second", ""});
}

/// The reachability of devices in one node, for devices that the checks above have accepted.
class Reach {
 public:
  explicit Reach(const NodeSpec& spec)
      : node_(node_graph(spec)), routes_(node_routes(node_, PathClass::sys).best) {}

  bool has_route(VertexId from, VertexId to) const {
    return from == to || !routes_[std::size_t{from} * node_.vertices.size() + to].links.empty();
  }
  std::string name(VertexId vertex) const { return name_of(node_.vertices[vertex]); }
  std::vector<VertexId> all(VertexKind kind) const {
    std::vector<VertexId> found;
    for (VertexId v = 0; v < node_.vertices.size(); ++v) {
      if (node_.vertices[v].kind == kind) found.push_back(v);
    }
    return found;
  }

 private:
  NodeGraph node_;
  std::vector<Route> routes_;
};

/// Returns whether the GPU has a route from any CPU of the node.
bool reaches_some_cpu(const Reach& reach, VertexId gpu) {
  for (const VertexId cpu : reach.all(VertexKind::cpu)) {
    if (reach.has_route(cpu, gpu)) return true;
  }
  return false;
}

/// Checks that each GPU reaches a CPU and the other GPUs, and that each NIC is reached by the GPUs. Each
/// cause is reported once.
void check_reach(Faults& faults, const NodeSpec& node) {
  const Reach reach(node);
  const std::vector<VertexId> gpus = reach.all(VertexKind::gpu);
  const auto unreached = [&](VertexId from, VertexId to, std::string hint) {
    faults.push_back(
        {fmt::format("{} cannot be reached from {}", reach.name(to), reach.name(from)), std::move(hint)});
  };
  std::vector<VertexId> connected;
  for (const VertexId gpu : gpus) {
    if (reaches_some_cpu(reach, gpu))
      connected.push_back(gpu);
    else
      unreached(reach.all(VertexKind::cpu).front(), gpu,
                fmt::format("connect {} by PCIe to cpu0 or to a switch that leads there", reach.name(gpu)));
  }
  for (const VertexId gpu : connected) {
    if (reach.has_route(connected.front(), gpu)) continue;
    unreached(connected.front(), gpu, "connect their CPUs with a socket link, or the GPUs with NVLink");
  }
  for (const VertexId nic : reach.all(VertexKind::nic)) {
    for (const VertexId gpu : connected) {
      if (reach.has_route(gpu, nic)) continue;
      unreached(gpu, nic,
                fmt::format("connect {} by PCIe to a CPU or switch that leads to {}", reach.name(nic),
                            reach.name(gpu)));
      break;
    }
  }
}

/// Returns the sum of bandwidths of a device's links of one kind, in bytes/s per direction.
double rate_at(const NodeSpec& node, std::string_view device, LinkKind kind) {
  double rate = 0;
  for (const NodeLink& link : node.links) {
    if ((link.a == device || link.b == device) && link.type.kind == kind)
      rate += link.type.bandwidth.per_second * link.count;
  }
  return rate;
}

/// Adds a warning about the first GPU whose NVLinks are slower than its PCIe link.
void add_cluster_warnings(std::vector<std::string>& out, const ClusterSpec& spec, const NodeSpec& node) {
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const std::string name = fmt::format("gpu{}", gpu);
    const double nvlink = rate_at(node, name, LinkKind::nvlink);
    const double pcie = rate_at(node, name, LinkKind::pcie);
    if (nvlink <= 0 || nvlink >= pcie) continue;
    out.push_back(fmt::format(
        "{}: the NVLinks of {} carry {} in sum, less than the {} of its PCIe link; was `count` forgotten, "
        "the number of parallel NVLinks in their [[node.links]]?",
        spec.name, name, to_string(ByteRate{nvlink}), to_string(ByteRate{pcie})));
    return;
  }
}

}  // namespace

std::vector<ClusterFault> check_node_links(const NodeSpec& node) {
  Faults faults;
  check_links(faults, node);
  return faults;
}

/// Reachability is only examined on a graph that can be built.
std::vector<ClusterFault> check_node(const NodeSpec& node) {
  Faults faults = check_node_links(node);
  if (faults.empty()) check_reach(faults, node);
  return faults;
}

std::vector<ClusterFault> check_network(const ClusterSpec& spec) {
  Faults faults;
  check_fabric_of(faults, spec);
  return faults;
}

std::vector<ClusterFault> check_kind_names(const ClusterSpec& spec) {
  Faults faults;
  check_names_of_kinds(faults, spec);
  return faults;
}

std::vector<ClusterFault> check(const ClusterSpec& spec) {
  Faults faults;
  check_counts(faults, spec);
  if (!faults.empty()) return faults;
  check_each_kind(faults, spec, [&](int, const NodeSpec& node) { check_links(faults, node); });
  check_fabric_of(faults, spec);
  if (!faults.empty()) return faults;
  check_each_kind(faults, spec, [&](int, const NodeSpec& node) { check_reach(faults, node); });
  return faults;
}

/// Returns warnings about descriptions that are possible, but probably a mistake.
std::vector<std::string> warnings_about(const ClusterSpec& spec) {
  std::vector<std::string> out;
  for (int kind = 0; kind < kind_count(spec); ++kind)
    add_cluster_warnings(out, spec, node_of_kind(spec, kind));
  return out;
}

}  // namespace foretrain
