// A ring of NCCL as a part of an SVG drawing: the node's GPUs on a circle, numbered clockwise from the top.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/report/collective/channel_listing.hpp"

namespace foretrain {

/// A point of the drawing in pixels from the upper left corner.
struct DrawnPoint {
  double x = 0, y = 0;
};

/// A ring of NCCL and how it is drawn.
struct DrawnRing {
  const ChannelGroup& ring;
  /// GPUs of the node that take part.
  const std::vector<int>& gpus;
  /// Number of the ring, which decides its colour.
  std::size_t number = 0;
  /// True on one node; otherwise the ring enters and leaves by network adapters.
  bool closed = true;
};

/// Size of the picture in pixels.
inline constexpr double kRingWidth = 168, kRingHeight = 196;

/// Draws the ring into kRingWidth x kRingHeight from the upper left corner. Precondition: the drawing has the
/// style classes "ring", "rim" and "small".
std::string draw_ring(const DrawnRing& ring, DrawnPoint corner);

/// Returns the colour of a ring. Colours repeat after eight rings and are used for nothing else.
std::string_view ring_color(std::size_t ring);

}  // namespace foretrain
