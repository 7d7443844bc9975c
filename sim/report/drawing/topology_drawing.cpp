// Draws a node as SVG: the node at the top, a legend of its links below, and then each different ring on a
// circle of its own, where its order is visible. The network between nodes stands at the bottom.
//
// The drawing is meant for documents and for a check by eye, whether a cluster file describes the machine
// that was meant.
#include "sim/report/drawing/topology_drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/drawing/fabric_picture.hpp"
#include "sim/report/drawing/mesh_picture.hpp"
#include "sim/report/drawing/ring_drawing.hpp"
#include "sim/report/drawing/svg_label.hpp"
#include "sim/report/topology/cluster_words.hpp"

namespace foretrain {

namespace {

// Sizes in pixels: distance of columns and rows, boxes, margin, and top of the node.
constexpr double kColumn = 74, kRow = 92, kBoxWidth = 66, kBoxHeight = 30, kMargin = 24, kNodeTop = 76;
// Height of a line of the legend, and room below the node for arcs between GPUs.
constexpr double kLegendLine = 20, kArcRoom = 112;

// The style has one colour for each kind of device, with brighter ones for dark backgrounds.
constexpr std::string_view kTopologyStyle =
    "<style>\n"
    "  text { font: 12px system-ui, sans-serif; fill: #3d444d; }\n"
    "  .title { font-size: 15px; font-weight: 600; }\n"
    "  .name, .small { text-anchor: middle; }\n"
    "  .small { font-size: 11px; }\n"
    "  rect { rx: 6; fill-opacity: 0.14; stroke-width: 1.5; }\n"
    "  circle.gpu { stroke-width: 1.5; } .plain { fill: #fff; }\n"
    "  .gpu { fill: #0f9d6c; stroke: #0f9d6c; } .cpu { fill: #7a6ff0; stroke: #7a6ff0; }\n"
    "  .switch { fill: #8c959f; stroke: #8c959f; } .nvswitch { fill: #0a7bbd; stroke: #0a7bbd; } .nic { "
    "fill: #d9580d; stroke: #d9580d; }\n"
    "  .link { fill: none; stroke-linecap: round; }\n"
    "  .pcie { stroke: #8c959f; } .socket { stroke: #7a6ff0; } .nvlink { stroke: #0f9d6c; } .network { "
    "stroke: #d9580d; }\n"
    "  .ring { fill: none; stroke-width: 2; stroke-linejoin: round; }\n"
    "  .rim { fill: none; stroke: #8c959f; stroke-opacity: 0.25; }\n"
    "  @media (prefers-color-scheme: dark) { text { fill: #d1d7e0; } rect { fill-opacity: 0.3; } .pcie, "
    ".switch { "
    "stroke: #a7b0ba; } .socket, .cpu { stroke: #a9a2ff; } .nvlink, .gpu { stroke: #35c791; } .network, .nic "
    "{ "
    "stroke: #ff9a5c; } .nvswitch { stroke: #54b4ee; } }\n"
    "</style>\n";

/// Returns a name from a file, shortened to fit.
std::string shown_name(std::string_view name) { return shortened(printable(name), 60); }

/// Return the style class of a device and of a link.
std::string_view class_of(VertexKind kind) {
  switch (kind) {
    case VertexKind::gpu:
      return "gpu";
    case VertexKind::cpu:
      return "cpu";
    case VertexKind::nvswitch:
      return "nvswitch";
    case VertexKind::nic:
      return "nic";
    default:
      return "switch";
  }
}

std::string_view class_of(LinkKind kind) {
  static constexpr std::array<std::string_view, 4> kNames{"pcie", "nvlink", "socket", "network"};
  return kNames[static_cast<std::size_t>(kind)];
}

// The picture of one node: boxes, and lines between them.
class NodePicture {
 public:
  explicit NodePicture(const NodeSpec& node)
      : node_(node), graph_(node_graph(node)), layout_(lay_out(graph_)) {
    has_mesh_ = has_mesh(node);
    has_arcs_ =
        !has_mesh_ && std::ranges::any_of(node.links, [&](const NodeLink& link) { return is_arc(link); });
  }

  /// Returns the width without margins.
  double width() const { return layout_.columns * kColumn; }
  /// Returns the lower end of the picture, including arcs.
  double bottom() const {
    return kNodeTop + (layout_.rows - 1) * kRow + kBoxHeight + (has_arcs_ ? kArcRoom : 0);
  }

  /// Returns the elements, with the left edge at `left`. Lines come first, so that boxes cover their ends.
  std::string draw(double left) const {
    std::string out;
    for (const NodeLink& link : node_.links)
      if (!has_mesh_ || !is_arc(link)) out += line_of(link, left);
    for (std::size_t v = 0; v < graph_.vertices.size(); ++v) out += box_of(v, left);
    return out;
  }

 private:
  /// Returns the centre of a device.
  DrawnPoint center(std::size_t v, double left) const {
    const DrawnDevice& device = layout_.devices[v];
    return {left + device.column * kColumn, kNodeTop + device.row * kRow + kBoxHeight / 2};
  }
  /// Returns the width of a device's box. NVSwitches share the whole width, so that most links to them are
  /// vertical.
  double box_width(std::size_t v) const {
    return graph_.vertices[v].kind == VertexKind::nvswitch
               ? std::max(kBoxWidth, width() / node_.nvswitches - 8)
               : kBoxWidth;
  }
  /// Returns where a line to `other` leaves a device.
  DrawnPoint port(std::size_t v, DrawnPoint other, double left) const {
    const DrawnPoint at = center(v, left);
    const double reach = (box_width(v) - kBoxWidth) / 2;
    return {std::clamp(other.x, at.x - reach, at.x + reach), at.y};
  }
  /// Returns the vertex of a name; names in a node's file are checked when it is read.
  std::size_t device(const std::string& name) const { return *find_device(node_, name); }
  /// Returns true for a link between two GPUs, which stand in one row and are joined by an arc below it.
  bool is_arc(const NodeLink& link) const {
    const VertexKind a = graph_.vertices[device(link.a)].kind, b = graph_.vertices[device(link.b)].kind;
    return a == VertexKind::gpu && b == VertexKind::gpu;
  }

  /// Returns the path of a link: an arc below GPUs, an arc above CPUs, or a line between the edges that face
  /// each other.
  std::string way_of(const NodeLink& link, DrawnPoint a, DrawnPoint b) const {
    const bool level = a.y == b.y;
    if (level && (is_arc(link) || link.type.kind == LinkKind::socket)) {
      const double columns = std::abs(a.x - b.x) / kColumn, share = columns / std::max(2.0, layout_.columns);
      const double depth =
          is_arc(link) ? 2 * (kArcRoom - 12) * std::sqrt(share) : -std::min(40.0, 14 * columns);
      const double y = a.y + std::copysign(kBoxHeight / 2, depth);
      return fmt::format("M{:.0f},{:.0f}Q{:.0f},{:.0f} {:.0f},{:.0f}", a.x, y, (a.x + b.x) / 2, y + depth,
                         b.x, y);
    }
    const double down = level ? 0 : std::copysign(kBoxHeight / 2, b.y - a.y),
                 aside = level ? std::copysign(kBoxWidth / 2, b.x - a.x) : 0;
    return fmt::format("M{:.0f},{:.0f}L{:.0f},{:.0f}", a.x + aside, a.y + down, b.x - aside, b.y - down);
  }

  /// Returns the line of a link, with a tooltip.
  std::string line_of(const NodeLink& link, double left) const {
    const std::size_t from = device(link.a), to = device(link.b);
    const DrawnPoint a = port(from, center(to, left), left), b = port(to, center(from, left), left);
    return fmt::format(
        "<path class=\"link {}\" stroke-width=\"{:.1f}\" d=\"{}\"><title>{} to {}: {} x {}, "
        "{}</title></path>\n",
        class_of(link.type.kind), line_width(link.count), way_of(link, a, b), link.a, link.b, link.count,
        xml_text(shown_name(link.type.name)), to_string(link.type.bandwidth * link.count));
  }

  /// Returns the box of a device with its name.
  std::string box_of(std::size_t v, double left) const {
    const DrawnPoint at = center(v, left);
    const std::string_view kind = class_of(graph_.vertices[v].kind);
    return fmt::format(
        "<rect x=\"{0:.0f}\" y=\"{1:.0f}\" width=\"{2:.0f}\" height=\"{3:.0f}\" class=\"{4}\"/>"
        "<text class=\"name\" x=\"{5:.0f}\" y=\"{6:.0f}\">{7}</text>\n",
        at.x - box_width(v) / 2, at.y - kBoxHeight / 2, box_width(v), kBoxHeight, kind, at.x, at.y + 4,
        name_of(graph_.vertices[v]));
  }

  const NodeSpec& node_;
  NodeGraph graph_;
  NodeLayout layout_;
  bool has_mesh_ = false, has_arcs_ = false;
};

/// Returns the legend: one line for each kind, name and count of links, such as "8 pairs by 2 x nvlink2, 48.5
/// GBps each way".
std::string topology_legend(const NodeSpec& node, double y) {
  std::map<std::tuple<LinkKind, std::string, int>, int> rows;
  for (const NodeLink& link : node.links) ++rows[{link.type.kind, link.type.name, link.count}];
  std::string out;
  for (const auto& [key, number] : rows) {
    const auto& [kind, name, count] = key;
    const auto link = std::ranges::find_if(node.links, [&row = key](const NodeLink& l) {
      return l.type.name == std::get<1>(row) && l.count == std::get<2>(row);
    });
    out += fmt::format("<path class=\"link {}\" stroke-width=\"{:.1f}\" d=\"M{:.0f},{:.0f}h26\"/>",
                       class_of(kind), line_width(count), kMargin, y - 4);
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{} by {} x {}, {} each way</text>\n", kMargin + 36, y,
                       number == 1 ? "1 pair" : fmt::format("{} pairs", number), count,
                       xml_text(shown_name(name)), to_string(link->type.bandwidth * count));
    y += kLegendLine;
  }
  return out;
}

/// Returns the number of lines of the legend.
std::size_t legend_lines(const NodeSpec& node) {
  std::set<std::tuple<LinkKind, std::string, int>> rows;
  for (const NodeLink& link : node.links) rows.insert({link.type.kind, link.type.name, link.count});
  return rows.size();
}

/// Returns the different rings on the job's first node, at most kMostDrawnRings.
std::vector<ChannelGroup> rings_of(const TopologyDrawing& drawing) {
  if (drawing.job == nullptr) return {};
  std::vector<ChannelGroup> rings = group_channels(drawing.job->shapes.front().ring.paths);
  if (rings.size() > kMostDrawnRings) rings.resize(kMostDrawnRings);
  std::erase_if(rings, [](const ChannelGroup& ring) { return ring.path.gpus.empty(); });
  return rings;
}

}  // namespace

namespace {

// Upper limit of the average width of a character in pixels.
constexpr double kLetter = 7.2;

/// Returns the least width of the drawing, for its titles and the widest line of the legend.
double least_width(const TopologyDrawing& drawing) {
  double letters = static_cast<double>(std::max(drawing.cluster.name.size() * 5 / 4 + 12, std::size_t{40}));
  for (const NodeLink& link : drawing.cluster.node.links)
    letters = std::max(letters, 44 + static_cast<double>(shown_name(link.type.name).size()));
  return std::min(letters, 150.0) * kLetter + 36;
}

/// Returns the start of the file, with a title and a description for screen readers.
std::string topology_head(const TopologyDrawing& drawing, double width, double height, std::size_t rings) {
  const NodeSpec& node = drawing.cluster.node;
  const std::string title = xml_text(shown_name(drawing.cluster.name));
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" aria-labelledby=\"title desc\">\n"
      "<title id=\"title\">A node of {2}</title>\n<desc id=\"desc\">{3} x {4}; {5}; {6}.",
      width, height, title, node.gpus, xml_text(shown_name(node.gpu.name)), nvlinks_in_words(node),
      nics_in_words(node));
  if (rings > 0) out += fmt::format(" NCCL's channels take {} different ways through its GPUs.", rings);
  return out + "</desc>\n" + std::string(kTopologyStyle) +
         fmt::format(
             "<text class=\"title\" x=\"{0:.0f}\" y=\"28\">A node of {1}</text><text x=\"{0:.0f}\" "
             "y=\"46\">{2} x {3}</text>\n",
             kMargin, title, node.gpus, xml_text(shown_name(node.gpu.name)));
}

}  // namespace

// Heights are computed from top to bottom; the width is that of the widest part.
std::string draw_topology(const TopologyDrawing& drawing) {
  const NodePicture picture(drawing.cluster.node);
  const std::vector<ChannelGroup> rings = rings_of(drawing);
  const NodeSpec& node = drawing.cluster.node;
  const double legend_top = picture.bottom() + 34;
  const double legend_height = kLegendLine * static_cast<double>(legend_lines(node)) + 8;
  const bool is_mesh = has_mesh(node);
  const double rings_top = legend_top + std::max(legend_height, is_mesh ? kMeshHeight : 0);
  const double rings_width = kRingWidth * static_cast<double>(std::min<std::size_t>(rings.size(), 4));
  const double node_width =
      std::max({picture.width(), least_width(drawing) + (is_mesh ? kMeshWidth : 0), rings_width});
  const auto per_line = static_cast<std::size_t>(node_width / kRingWidth);
  const std::size_t lines = (rings.size() + per_line - 1) / per_line;
  const double node_height = rings_top + kRingHeight * static_cast<double>(lines) + 8;
  const FabricPicture fabric = draw_fabric(drawing.cluster, drawing.nodes, kMargin, node_height);
  const double width = std::max(node_width, fabric.width) + 2 * kMargin, height = node_height + fabric.height;
  std::string out = topology_head(drawing, width, height, rings.size());
  out += picture.draw((width - picture.width()) / 2) + topology_legend(node, legend_top);
  if (is_mesh) out += draw_mesh(node, {width - kMargin - kMeshWidth, legend_top - 16});
  for (std::size_t i = 0; i < rings.size(); ++i) {
    const DrawnPoint corner{kMargin + kRingWidth * static_cast<double>(i % per_line),
                            rings_top + kRingHeight * static_cast<double>(i / per_line)};
    out += draw_ring({rings[i], drawing.job->shapes.front().gpus, i, drawing.job->nodes.size() == 1}, corner);
  }
  return out + fabric.elements + "</svg>\n";
}

}  // namespace foretrain
