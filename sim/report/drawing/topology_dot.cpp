// Writes a node for Graphviz. Devices of a kind share a shape; parallel links are one edge with their count.
// NVLinks are bold, and NCCL's rings are coloured arrows.
#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/cluster/node_layout.hpp"
#include "sim/report/drawing/ring_drawing.hpp"
#include "sim/report/drawing/topology_drawing.hpp"

namespace foretrain {

namespace {

/// Returns the shape of a device.
std::string_view shape_of(VertexKind kind) {
  if (kind == VertexKind::gpu) return "box";
  if (kind == VertexKind::cpu) return "box3d";
  return kind == VertexKind::nic ? "house" : "ellipse";
}

/// Returns the text as a quoted string of Graphviz.
std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

/// Returns the edges of a ring. They do not influence the layout (constraint=false).
std::string ring_edges(const ChannelGroup& ring, std::size_t number, bool closed) {
  const std::vector<int>& gpus = ring.path.gpus;
  std::string out;
  const auto edge = [&](const std::string& from, const std::string& to) {
    out += fmt::format("  {} -- {} [dir=forward, constraint=false, penwidth=2, color=\"{}\"];\n", from, to,
                       ring_color(number));
  };
  // A ring over several nodes enters and leaves by adapters; within a node it closes from the last GPU to the
  // first.
  if (ring.path.nic_in >= 0) edge(fmt::format("nic{}", ring.path.nic_in), fmt::format("gpu{}", gpus.front()));
  for (std::size_t i = 0; i + 1 < gpus.size(); ++i)
    edge(fmt::format("gpu{}", gpus[i]), fmt::format("gpu{}", gpus[i + 1]));
  if (ring.path.nic_out >= 0)
    edge(fmt::format("gpu{}", gpus.back()), fmt::format("nic{}", ring.path.nic_out));
  if (closed && gpus.size() > 1) edge(fmt::format("gpu{}", gpus.back()), fmt::format("gpu{}", gpus.front()));
  return out;
}

}  // namespace

// Devices come from the node's graph, so unused ones are drawn too.
std::string write_topology_dot(const TopologyDrawing& drawing) {
  const NodeSpec& node = drawing.cluster.node;
  std::string out = fmt::format(
      "graph {} {{\n  label={};\n  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", "
      "fontsize=10];\n",
      dot_string(drawing.cluster.name), dot_string(fmt::format("a node of {}", drawing.cluster.name)));
  for (const Vertex& vertex : node_graph(node).vertices)
    out += fmt::format("  {} [shape={}];\n", name_of(vertex), shape_of(vertex.kind));
  for (const NodeLink& link : node.links) {
    const bool nvlink = link.type.kind == LinkKind::nvlink;
    out += fmt::format("  {} -- {} [label={}{}];\n", link.a, link.b,
                       dot_string(fmt::format("{} x {} {}", link.count, link.type.name,
                                              to_string(link.type.bandwidth * link.count))),
                       nvlink ? ", style=bold" : "");
  }
  // Rings are drawn only for a job. Channels with the same path are one ring here.
  if (drawing.job != nullptr) {
    const auto groups = group_channels(drawing.job->shapes.front().ring.paths);
    for (std::size_t i = 0; i < groups.size() && i < kMostDrawnRings; ++i)
      out += ring_edges(groups[i], i, drawing.job->nodes.size() == 1);
  }
  return out + "}\n";
}

}  // namespace foretrain
