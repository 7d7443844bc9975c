// Time over message size as a few straight pieces, latency + bytes x seconds per byte: one for each protocol
// that a library switches to.
#pragma once

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

}  // namespace foretrain::fit
