// One straight piece of time over size: its robust relative fit, what it leaves unexplained, and what another
// piece must gain.
#pragma once

#include <span>

#include "calibrate/fit/segments.hpp"

namespace foretrain::fit {

/// A point that stands for `count` measured ones of its size or of sizes beside each other.
struct MergedPoint {
  double bytes = 0, seconds = 0;
  int count = 1;
  double spread = 0;  ///< standard deviation of log(seconds), from repeats or as stated; 0: unknown
};

struct Piece {
  Segment segment;
  double loss =
      0;  ///< sum over points of the squared log(measured / fitted) over the noise, each at most kMostLoss
};

/// A point by itself is an outlier and costs at most this, less than two more pieces would; two points in a
/// row are a piece.
inline constexpr double kMostLoss = 12;

/// What a piece costs: with `points` points in all, three more numbers (latency, slope, end) as Schwarz's
/// criterion (1978) charges them.
double price_of_piece(std::size_t points);

/// Standard deviation of log(seconds) that is noise: how far points lie from the straight line between their
/// neighbours, which is zero on a piece and large at the few jumps; a robust estimate, at least 0.3 %. At
/// most 1.5 %, or what repeats and the points' own spreads say: medians that a benchmark prints come back
/// that closely, so what scatters more is the library's doing. Points ascend.
double noise_of(std::span<const MergedPoint> points);

/// Relative least squares with neither latency nor slope negative, then a few times again with errors
/// relative to the fit and outliers counting little. Requires at least one point, ascending, positive,
/// finite.
Piece fit_piece(std::span<const MergedPoint> points, double noise);

}  // namespace foretrain::fit
