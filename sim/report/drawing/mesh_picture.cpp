// Draws linked GPUs on a circle. They are the corners of a convex polygon, so a line between two never
// touches a third.
#include "sim/report/drawing/mesh_picture.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/node_layout.hpp"
#include "sim/report/drawing/svg_label.hpp"

namespace foretrain {

namespace {

// Largest number of links that can be told apart as arcs in a row.
constexpr int kMostArcs = 6;
// Radius of the circle and of a GPU, and height of the heading, in pixels.
constexpr double kMeshRadius = 100, kMeshGpu = 15, kMeshTop = 34;

/// Returns the links between two GPUs, in the order of the node's file.
std::vector<const NodeLink*> gpu_links(const NodeSpec& node) {
  std::vector<const NodeLink*> out;
  for (const NodeLink& link : node.links) {
    if (link.a.starts_with("gpu") && link.b.starts_with("gpu")) out.push_back(&link);
  }
  return out;
}

/// Returns the number in a name such as "gpu3".
int gpu_number(const std::string& device) { return std::stoi(device.substr(3)); }

/// Returns the place of a GPU, clockwise from the top.
DrawnPoint place_of_gpu(int gpu, int gpus, DrawnPoint middle) {
  const double angle = 2 * std::numbers::pi * gpu / gpus - std::numbers::pi / 2;
  return {middle.x + kMeshRadius * std::cos(angle), middle.y + kMeshRadius * std::sin(angle)};
}

}  // namespace

double line_width(int count) { return std::min(6.0, 1 + 0.6 * count); }

// Up to this number of links, arcs in a row are easier to read.
bool has_mesh(const NodeSpec& node) {
  return gpu_links(node).size() > static_cast<std::size_t>(std::max(node.gpus, kMostArcs));
}

// Lines come first, so that circles cover their ends.
std::string draw_mesh(const NodeSpec& node, DrawnPoint corner) {
  const DrawnPoint middle{corner.x + kMeshWidth / 2, corner.y + kMeshTop + kMeshGpu + kMeshRadius};
  std::string out = fmt::format("<text class=\"title\" x=\"{:.0f}\" y=\"{:.0f}\">Links between GPUs</text>\n",
                                corner.x, corner.y + 12);
  for (const NodeLink* link : gpu_links(node)) {
    const DrawnPoint a = place_of_gpu(gpu_number(link->a), node.gpus, middle),
                     b = place_of_gpu(gpu_number(link->b), node.gpus, middle);
    out += fmt::format(
        "<path class=\"link nvlink\" stroke-width=\"{:.1f}\" d=\"M{:.0f},{:.0f}L{:.0f},{:.0f}\"><title>{} to "
        "{}: "
        "{} x {}, {}</title></path>\n",
        1.6 * line_width(link->count) - 1, a.x, a.y, b.x, b.y, link->a, link->b, link->count,
        xml_text(shortened(printable(link->type.name), 60)), to_string(link->type.bandwidth * link->count));
  }
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const DrawnPoint at = place_of_gpu(gpu, node.gpus, middle);
    out += fmt::format(
        "<circle class=\"gpu\" cx=\"{0:.0f}\" cy=\"{1:.0f}\" r=\"{2:.0f}\"/><text class=\"name plain\" "
        "x=\"{0:.0f}\" y=\"{3:.0f}\">{4}</text>\n",
        at.x, at.y, kMeshGpu, at.y + 4, gpu);
  }
  return out;
}

}  // namespace foretrain
