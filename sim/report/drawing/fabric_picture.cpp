// Draws the network between nodes: levels of switches from top to bottom, and nodes at the bottom. Only the
// graph of the cluster is used, so every kind of fabric is drawn by the same code.
#include "sim/report/drawing/fabric_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/node_layout.hpp"
#include "sim/report/drawing/svg_label.hpp"
#include "sim/report/topology/cluster_words.hpp"

namespace foretrain {

namespace {

// Limits: boxes of nodes and of switches that are drawn one by one, and nodes that are built at all.
constexpr int kMostNodesDrawn = 8, kMostSwitchesDrawn = 16, kMostNodesBuilt = 2048;
// Sizes in pixels: boxes, distance of columns and rows, heading, and room for arcs above a row.
constexpr double kBoxWide = 66, kBoxHigh = 30, kColumnWide = 78, kRowHigh = 86, kHead = 58, kArcHigh = 60;
// Average width of a character in pixels.
constexpr double kTextWidth = 7.2;

/// Returns the level of a vertex: 0 for a node, and larger numbers for switches above it.
int level_of(const Vertex& vertex) {
  switch (vertex.kind) {
    case VertexKind::leaf:
    case VertexKind::router:
      return 1;
    case VertexKind::spine:
      return 2;
    case VertexKind::core:
      return 3;
    default:
      return 0;
  }
}

// The links between two boxes; both directions count as one link.
struct Joint {
  int links = 0;
  double bytes_per_s = 0;
};

using Box = std::pair<int, int>;  ///< level and number in it

// The picture. In the summary a box stands for all vertices of a level.
class FabricDrawing {
 public:
  FabricDrawing(const ClusterSpec& spec, int nodes)
      : spec_(spec), nodes_(nodes), cluster_(Cluster::build(spec, nodes)) {
    // Vertices outside of nodes are switches.
    for (const Vertex& vertex : cluster_.vertices()) {
      if (vertex.node < 0) ++counts_[static_cast<std::size_t>(level_of(vertex))];
    }
    counts_[0] = nodes;
    is_summary_ = nodes > kMostNodesDrawn || counts_[1] + counts_[2] + counts_[3] > kMostSwitchesDrawn;
    find_joints();
  }

  /// Returns the picture with its upper left corner at (left, top).
  FabricPicture draw(double left, double top) const {
    const double arcs = has_arcs() ? kArcHigh : 0;
    FabricPicture picture{{}, width(), kHead + arcs + (rows() - 1) * kRowHigh + kBoxHigh + 8};
    const std::string words = shortened(fabric_in_words(spec_), 110);
    picture.width = std::max(picture.width, kTextWidth * static_cast<double>(words.size()));
    std::string all = nodes_ == spec_.nodes ? fmt::format("all {} nodes", nodes_)
                                            : fmt::format("the first {} of {} nodes", nodes_, spec_.nodes);
    picture.elements = fmt::format(
        "<text class=\"title\" x=\"{0:.0f}\" y=\"{1:.0f}\">Network, {2}{3}</text><text x=\"{0:.0f}\" "
        "y=\"{4:.0f}\">{5}</text>\n",
        left, top + 18, all, is_summary_ ? ": a box stands for a level" : "", top + 38, xml_text(words));
    // Lines come first, so that boxes cover their ends.
    for (const auto& [ends, joint] : joints_)
      picture.elements += line(ends.first, ends.second, joint, left, top + kHead + arcs);
    for (int level = 3; level >= 0; --level) {
      for (int i = 0; i < boxes(level); ++i) picture.elements += box({level, i}, left, top + kHead + arcs);
    }
    return picture;
  }

 private:
  /// Returns the box that shows the vertex.
  Box box_of(VertexId id) const {
    const Vertex& vertex = cluster_.vertices()[id];
    const int level = level_of(vertex);
    return {level, is_summary_ ? 0 : level == 0 ? vertex.node : vertex.index};
  }

  /// Collects the network links between boxes.
  void find_joints() {
    const ClusterLinks& links = cluster_.links();
    for (std::size_t id = cluster_.first_link(nodes_); id < links.size(); ++id) {
      const ClusterLink link = links[id];
      if (link.kind != LinkKind::network) continue;
      const Box a = box_of(link.from), b = box_of(link.to);
      // The other direction of the same link.
      if (a > b || (a == b && link.from > link.to)) continue;
      Joint& joint = joints_[{a, b}];
      ++joint.links, joint.bytes_per_s += link.bandwidth.per_second;
    }
  }

  /// Returns the number of boxes of a level.
  int boxes(int level) const {
    const int count = counts_[static_cast<std::size_t>(level)];
    return is_summary_ ? std::min(count, 1) : count;
  }
  int rows() const {
    return static_cast<int>(std::ranges::count_if(counts_, [](int count) { return count > 0; }));
  }
  /// Returns the row of a level, counted from the top; levels without boxes take no row.
  int row_of(int level) const {
    int row = 0;
    for (int above = 3; above > level; --above) row += boxes(above) > 0 ? 1 : 0;
    return row;
  }
  int columns() const {
    int most = 1;
    for (int level = 0; level < 4; ++level) most = std::max(most, boxes(level));
    return most;
  }
  /// Returns the width of a box, which depends on its name in the summary.
  double wide(int level) const {
    return is_summary_ ? std::max(kBoxWide, 24 + kTextWidth * static_cast<double>(name({level, 0}).size()))
                       : kBoxWide;
  }
  double width() const { return is_summary_ ? 560 : columns() * kColumnWide; }
  /// Returns true when two boxes of one level are linked.
  bool has_arcs() const {
    return std::ranges::any_of(
        joints_, [](const auto& joint) { return joint.first.first.first == joint.first.second.first; });
  }

  /// Returns the name in the box, such as "leaf3", or "12 leaf switches" in the summary.
  std::string name(Box box) const {
    static constexpr std::array<std::string_view, 4> kNames{"node", "leaf", "spine", "core"};
    const auto level = static_cast<std::size_t>(box.first);
    std::string_view kind = kNames[level];
    for (const Vertex& vertex : cluster_.vertices()) {
      if (box.first == 1 && vertex.kind == VertexKind::router) kind = "router";
    }
    if (!is_summary_) return fmt::format("{}{}", kind, box.second);
    const std::string_view sort = level == 0 || kind == "router" ? "" : " switch";
    return counted(counts_[level], std::string(kind) + std::string(sort));
  }

  /// Returns the centre of a box.
  std::pair<double, double> center(Box box, double left, double top) const {
    const double share = is_summary_ ? 130 : width() / boxes(box.first);
    return {left + share * (box.second + 0.5), top + row_of(box.first) * kRowHigh + kBoxHigh / 2};
  }

  /// Returns a box with its name.
  std::string box(Box box, double left, double top) const {
    const auto [x, y] = center(box, left, top);
    return fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" class=\"{}\"/><text "
        "class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        std::max(left, x - wide(box.first) / 2), y - kBoxHigh / 2, wide(box.first), kBoxHigh,
        box.first == 0 ? "cpu" : "switch", std::max(left, x - wide(box.first) / 2) + wide(box.first) / 2,
        y + 4, name(box));
  }

  /// Returns the line between two boxes: straight between levels, an arc above boxes of the same level.
  std::string line(Box lower, Box upper, const Joint& joint, double left, double top) const {
    const auto [ax, ay] = center(lower, left, top);
    const auto [bx, by] = center(upper, left, top);
    const std::string words =
        fmt::format("{}, {} each way", counted(joint.links, "link"), to_string(ByteRate{joint.bytes_per_s}));
    std::string way =
        fmt::format("M{:.1f},{:.1f}L{:.1f},{:.1f}", ax, ay - kBoxHigh / 2, bx, by + kBoxHigh / 2);
    double x = ax + 14, y = (ay + by) / 2 + 4;
    if (lower.first == upper.first) {
      const double from = lower == upper ? ax - 20 : ax, to = lower == upper ? ax + 20 : bx;
      const double depth = std::min(2 * (kArcHigh - 16), 30 + 14 * std::abs(to - from) / kColumnWide);
      way = fmt::format("M{:.1f},{:.1f}Q{:.1f},{:.1f} {:.1f},{:.1f}", from, ay - kBoxHigh / 2,
                        (from + to) / 2, ay - kBoxHigh / 2 - depth, to, ay - kBoxHigh / 2);
      x = ax + 40, y = ay - kBoxHigh / 2 - 14;
    }
    // The width grows with the number of links up to a limit.
    const double thick = is_summary_ ? 3 : std::min(6.0, 1 + 0.6 * joint.links);
    std::string out = fmt::format(
        "<path class=\"link network\" stroke-width=\"{:.1f}\" d=\"{}\"><title>{} to {}: "
        "{}</title></path>\n",
        thick, way, name(lower), name(upper), words);
    if (is_summary_) out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y, words);
    return out;
  }

  const ClusterSpec& spec_;
  int nodes_;
  Cluster cluster_;
  std::array<int, 4> counts_{};
  bool is_summary_ = false;
  std::map<std::pair<Box, Box>, Joint> joints_;
};

}  // namespace

// One node has no network to draw.
FabricPicture draw_fabric(const ClusterSpec& spec, int nodes, double left, double top) {
  const int wanted = std::min({nodes > 0 ? nodes : spec.nodes, spec.nodes, kMostNodesBuilt});
  return wanted < 2 ? FabricPicture{} : FabricDrawing(spec, wanted).draw(left, top);
}

}  // namespace foretrain
