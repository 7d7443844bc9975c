// Time over message size as a few straight pieces, latency + bytes x seconds per byte: one for each protocol
// that a library switches to.
#pragma once

#include <span>
#include <vector>

namespace foretrain::fit {

struct SizePoint {
  double bytes = 0, seconds = 0;
  double spread = 0;  ///< standard deviation of log(seconds); 0: unknown
};

struct Segment {
  double least = 0, most = 0;                  ///< bytes of its smallest and largest point
  double latency_s = 0, seconds_per_byte = 0;  ///< neither is negative
  double spread = 0;                           ///< robust standard deviation of log(measured / fitted)
  int samples = 0;
  double at(double bytes) const { return latency_s + bytes * seconds_per_byte; }
};

/// The fewest pieces that explain the points: dynamic programming over where pieces end, relative errors,
/// robust, a penalty for each piece. Equal sizes are merged to their median first. Ascending. Points need not
/// be sorted; empty for none.
std::vector<Segment> fit_segments(std::vector<SizePoint> points);

/// Seconds of a message: inside a piece its line, between two pieces the straight line that joins their ends,
/// below the smallest size what the first piece takes at its smallest, above the largest the last piece's
/// line. Requires at least one segment, ascending.
double time_at(const std::vector<Segment>& segments, double bytes);

// One straight piece of time over size: its robust relative fit, what it leaves unexplained, and what another
// piece must gain.

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
