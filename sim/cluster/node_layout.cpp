// The number of a device is the number of its kind's first device plus its index.
#include "sim/cluster/node_layout.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace foretrain {

namespace {

struct KindName {
  VertexKind kind;
  std::string_view name;
};

/// The kinds inside a node in the order they are numbered, then those of the fabric.
constexpr std::array<KindName, 9> kKinds{{{VertexKind::gpu, "gpu"},
                                          {VertexKind::cpu, "cpu"},
                                          {VertexKind::pcie_switch, "switch"},
                                          {VertexKind::nvswitch, "nvswitch"},
                                          {VertexKind::nic, "nic"},
                                          {VertexKind::leaf, "leaf"},
                                          {VertexKind::spine, "spine"},
                                          {VertexKind::core, "core"},
                                          {VertexKind::router, "router"}}};

/// Returns how many devices of a kind the node has; 0 for kinds of the fabric.
int count_of(const NodeSpec& node, VertexKind kind) {
  switch (kind) {
    case VertexKind::gpu:
      return node.gpus;
    case VertexKind::cpu:
      return node.cpus;
    case VertexKind::pcie_switch:
      return node.switches;
    case VertexKind::nvswitch:
      return node.nvswitches;
    case VertexKind::nic:
      return node.nics;
    default:
      return 0;
  }
}

/// Returns the index that the digits spell, or nothing if it is not below `count` or has leading zeros.
std::optional<int> index_in(std::string_view digits, int count) {
  int index = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool canonical = digits.size() == 1 || (!digits.empty() && digits.front() != '0');
  if (error != std::errc{} || end != digits.data() + digits.size() || !canonical || index < 0 ||
      index >= count)
    return std::nullopt;
  return index;
}

/// Returns the rate of the widest link between a GPU and the CPU side of the node. Without such a link it is
/// an arbitrary rate of 1 GB/s, which no route uses.
ByteRate host_rate(const NodeGraph& graph, VertexId gpu) {
  ByteRate widest{1e9};
  for (const ClusterLink& link : graph.links) {
    const VertexKind other = graph.vertices[link.to].kind;
    if (link.from == gpu && (other == VertexKind::cpu || other == VertexKind::pcie_switch))
      widest = std::max(widest, link.bandwidth);
  }
  return widest;
}

}  // namespace

VertexId first_of(const NodeSpec& node, VertexKind kind) {
  int first = 0;
  for (const KindName& row : kKinds) {
    if (row.kind == kind) break;
    first += count_of(node, row.kind);
  }
  return static_cast<VertexId>(first);
}

std::optional<VertexId> find_device(const NodeSpec& node, std::string_view name) {
  for (const KindName& row : kKinds) {
    if (!name.starts_with(row.name)) continue;
    const std::optional<int> index = index_in(name.substr(row.name.size()), count_of(node, row.kind));
    if (index) return first_of(node, row.kind) + static_cast<VertexId>(*index);
  }
  return std::nullopt;
}

std::string name_of(const Vertex& vertex) {
  for (const KindName& row : kKinds) {
    if (row.kind == vertex.kind) return fmt::format("{}{}", row.name, vertex.index);
  }
  return {};
}

NodeGraph node_graph(const NodeSpec& node) {
  NodeGraph graph;
  for (const KindName& row : kKinds) {
    for (int i = 0; i < count_of(node, row.kind); ++i) graph.vertices.push_back({row.kind, 0, i});
  }
  graph.links.reserve(2 * node.links.size() + static_cast<std::size_t>(kStagingLinks * node.gpus));
  for (const NodeLink& link : node.links) {
    const VertexId a = find_device(node, link.a).value(), b = find_device(node, link.b).value();
    const LinkType& type = link.type;
    const ByteRate bandwidth = type.bandwidth * link.count;
    graph.links.push_back({a, b, type.kind, bandwidth, type.collective_efficiency, type.latency});
    graph.links.push_back({b, a, type.kind, bandwidth, type.collective_efficiency, type.latency});
  }
  graph.first_staging = static_cast<LinkId>(graph.links.size());
  for (VertexId gpu = 0; gpu < static_cast<VertexId>(node.gpus); ++gpu) {
    const ByteRate host = host_rate(graph, gpu);
    for (int way = 0; way < kStagingLinks; ++way)
      graph.links.push_back({gpu, gpu, LinkKind::pcie, host * node.gpu.staging_share, 1, Time::zero()});
  }
  return graph;
}

}  // namespace foretrain
