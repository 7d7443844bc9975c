// Draws a ring of NCCL on a circle, where its order is visible independently of the node's layout.
#include "sim/report/drawing/ring_drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

// Radius of the circle in pixels.
constexpr double kRadius = 56;
// Colours that differ from each other and from those of links.
constexpr std::array<std::string_view, 8> kRingColors{"#0a7bbd", "#d9580d", "#0f9d6c", "#b5589a",
                                                      "#b08900", "#7a6ff0", "#c4314b", "#2f8f9d"};

/// Returns a triangle in the middle of an edge that points along it.
std::string arrow(DrawnPoint from, DrawnPoint to) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (length < 1) return {};
  const double dx = (to.x - from.x) / length, dy = (to.y - from.y) / length;
  const DrawnPoint tip{(from.x + to.x) / 2 + 5 * dx, (from.y + to.y) / 2 + 5 * dy},
      foot{tip.x - 9 * dx, tip.y - 9 * dy};
  return fmt::format("M{:.1f},{:.1f}L{:.1f},{:.1f}L{:.1f},{:.1f}Z", tip.x, tip.y, foot.x - 4 * dy,
                     foot.y + 4 * dx, foot.x + 4 * dy, foot.y - 4 * dx);
}

}  // namespace

std::string_view ring_color(std::size_t ring) { return kRingColors[ring % kRingColors.size()]; }

// The rim, the path with its arrows, the GPUs, and up to three lines of text below.
std::string draw_ring(const DrawnRing& drawn, DrawnPoint corner) {
  const ChannelGroup& ring = drawn.ring;
  const std::vector<int>& gpus = drawn.gpus;
  const std::size_t number = drawn.number;
  const bool closed = drawn.closed;
  const DrawnPoint middle{corner.x + kRingWidth / 2, corner.y + 14 + kRadius};
  // Returns the place of a GPU on the circle, clockwise from the top.
  const auto at = [&](int gpu) {
    const auto place = static_cast<double>(std::ranges::find(gpus, gpu) - gpus.begin());
    const double angle =
        2 * std::numbers::pi * place / static_cast<double>(gpus.size()) - std::numbers::pi / 2;
    return DrawnPoint{middle.x + kRadius * std::cos(angle), middle.y + kRadius * std::sin(angle)};
  };
  std::string out = fmt::format("<circle class=\"rim\" cx=\"{:.0f}\" cy=\"{:.0f}\" r=\"{:.0f}\"/>", middle.x,
                                middle.y, kRadius),
              way;
  std::string arrows;
  const std::vector<int>& order = ring.path.gpus;
  for (std::size_t i = 0; i < order.size(); ++i) {
    way += fmt::format("{}{:.1f},{:.1f}", i == 0 ? "M" : "L", at(order[i]).x, at(order[i]).y);
    if (i > 0) arrows += arrow(at(order[i - 1]), at(order[i]));
  }
  // Between two GPUs the closing edge would lie on the first one.
  if (closed && order.size() > 2) arrows += arrow(at(order.back()), at(order.front()));
  out += fmt::format("<path class=\"ring\" stroke=\"{}\" d=\"{}{}\"/><path fill=\"{}\" d=\"{}\"/>\n",
                     ring_color(number), way, closed ? "Z" : "", ring_color(number), arrows);
  for (const int gpu : ring.path.gpus) {
    // On several nodes the ring enters at its first GPU and leaves at its last, which are marked.
    const bool end = !closed && (gpu == ring.path.gpus.front() || gpu == ring.path.gpus.back());
    out += fmt::format(
        "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"10\" fill=\"{2}\"{5}/><text class=\"small\" x=\"{0:.1f}\" "
        "y=\"{3:.1f}\" "
        "style=\"fill:#fff\">{4}</text>",
        at(gpu).x, at(gpu).y, ring_color(number), at(gpu).y + 4, gpu,
        end ? " stroke=\"#8c959f\" stroke-width=\"3\"" : "");
  }
  const auto line = [&](int number_of_line, const std::string& text) {
    return fmt::format("<text class=\"small\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>", middle.x,
                       corner.y + 2 * kRadius + 46 + 15 * number_of_line, text);
  };
  out += "\n" + line(0, fmt::format("{} {}", ring.channels.size() == 1 ? "ring" : "rings",
                                    shortened(number_ranges(ring.channels), 18)));
  if (ring.path.nic_in >= 0)
    out += line(1, fmt::format("nic{} to gpu{}", ring.path.nic_in, order.front())) +
           line(2, fmt::format("gpu{} to nic{}", order.back(), ring.path.nic_out));
  return out + "\n";
}

}  // namespace foretrain
