// Lays out a node as a tree. A breadth-first search from the CPUs over everything except NVSwitches decides
// which device hangs below which. Leaves take columns in the order of the tree, and a parent stands over the
// middle of its children.
#include <algorithm>

#include "sim/report/drawing/topology_drawing.hpp"

namespace foretrain {

namespace {

// Computes one layout.
class Layouter {
 public:
  explicit Layouter(const NodeGraph& graph)
      : graph_(graph), children_(graph.vertices.size()), depth_(graph.vertices.size(), -1) {
    // Devices start without a depth, which means unreached.
    layout_.devices.resize(graph.vertices.size());
  }

  /// Returns the layout; may be called once.
  NodeLayout lay_out() {
    // First the trees below CPUs, then devices that no CPU reaches.
    grow();
    for (VertexId v = 0; v < graph_.vertices.size(); ++v) {
      if (kind(v) == VertexKind::cpu) place(v);
    }
    for (VertexId v = 0; v < graph_.vertices.size(); ++v) {
      if (depth_[v] < 0 && kind(v) != VertexKind::nvswitch) place(v);
    }
    layout_.columns = std::max(1.0, next_column_);
    set_rows();
    return std::move(layout_);
  }

 private:
  /// Return the kind of a vertex, and whether devices may hang below it.
  VertexKind kind(VertexId v) const { return graph_.vertices[v].kind; }
  bool is_leaf(VertexId v) const { return kind(v) == VertexKind::gpu || kind(v) == VertexKind::nic; }

  /// Builds the tree by breadth-first search. The order of a vertex's children is that of their numbers.
  void grow() {
    // Queue of the search.
    std::vector<VertexId> line;
    for (VertexId v = 0; v < graph_.vertices.size(); ++v) {
      if (kind(v) == VertexKind::cpu) depth_[v] = 0, line.push_back(v);
    }
    for (std::size_t i = 0; i < line.size(); ++i) {
      const VertexId from = line[i];
      // A path through a GPU or an adapter is none for the layout.
      if (is_leaf(from)) continue;
      for (const ClusterLink& link : graph_.links) {
        if (link.from != from || depth_[link.to] >= 0 || kind(link.to) == VertexKind::nvswitch) continue;
        depth_[link.to] = depth_[from] + 1;
        children_[from].push_back(link.to);
        line.push_back(link.to);
      }
      std::ranges::sort(children_[from]);
    }
  }

  /// Assigns columns to a vertex and everything below it.
  void place(VertexId v) {
    for (const VertexId child : children_[v]) place(child);
    DrawnDevice& device = layout_.devices[v];
    if (children_[v].empty())
      device.column = next_column_++ + 0.5;
    else
      device.column =
          (layout_.devices[children_[v].front()].column + layout_.devices[children_[v].back()].column) / 2;
  }

  /// Assigns rows: GPUs and adapters share a row below the deepest switch, and NVSwitches the last row.
  void set_rows() {
    int leaves = 1, nvswitches = 0, seen = 0;
    for (VertexId v = 0; v < graph_.vertices.size(); ++v) {
      if (!is_leaf(v)) leaves = std::max(leaves, depth_[v] + 1);
      nvswitches += kind(v) == VertexKind::nvswitch ? 1 : 0;
    }
    for (VertexId v = 0; v < graph_.vertices.size(); ++v) {
      DrawnDevice& device = layout_.devices[v];
      device.row = is_leaf(v) ? leaves : std::max(0, depth_[v]);
      if (kind(v) == VertexKind::nvswitch)
        device = {(seen++ + 0.5) * layout_.columns / nvswitches, leaves + 1};
    }
    layout_.rows = leaves + (nvswitches > 0 ? 2 : 1);
  }

  const NodeGraph& graph_;
  std::vector<std::vector<VertexId>> children_;
  std::vector<int> depth_;
  NodeLayout layout_;
  // Next free column.
  double next_column_ = 0;
};

}  // namespace

NodeLayout lay_out(const NodeGraph& graph) { return Layouter(graph).lay_out(); }

}  // namespace foretrain
