// One ring of NCCL as a part of an SVG: the node's GPUs on a circle, numbered clockwise from the top.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/report/collective/channel_listing.hpp"

namespace foretrain {

/// A point of the picture, in SVG units from the top left.
struct DrawnPoint {
  double x = 0, y = 0;
};

/// A ring of NCCL as the picture shows it.
struct DrawnRing {
  const ChannelGroup& ring;
  const std::vector<int>& gpus;  ///< of the node
  std::size_t number = 0;        ///< sets the colour
  bool closed = true;            ///< on one node; otherwise it comes in and leaves by NICs
};

inline constexpr double kRingWidth = 168, kRingHeight = 196;

/// Fills kRingWidth x kRingHeight from the upper left corner. Requires classes "ring", "rim" and "small" in
/// the style.
std::string draw_ring(const DrawnRing& ring, DrawnPoint corner);

/// Colours of rings and of nothing else, by number.
std::string_view ring_color(std::size_t ring);

}  // namespace foretrain
