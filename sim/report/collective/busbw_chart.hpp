// Bus bandwidth over message size as a drawing: predicted lines, measured points.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/scenario/csv/measurements.hpp"

namespace foretrain {

/// A point of the chart: message size in bytes and bus bandwidth in GB/s.
struct BusbwPoint {
  double bytes = 0, bytes_per_second = 0;
  double low = 0, high = 0;  ///< 90 % interval of the rate; 0: none
};

/// A line or a set of points of the chart, with its name.
struct BusbwSeries {
  std::string label;
  bool measured = false;  ///< drawn as points, otherwise as a line
  std::vector<BusbwPoint> points;
};

/// The chart of bus bandwidth over message size.
struct BusbwChart {
  std::string title;
  std::vector<BusbwSeries> series;
};

/// The curve, and over it the rows of the same cluster, operation, GPUs and nodes: one series of points for
/// each of theirs. What has no bandwidth (one rank, nothing sent) is left out.
BusbwChart busbw_chart(const CollectiveCurve& curve, const std::vector<CollectiveMeasurement>& measured);

/// An SVG of its own, both axes logarithmic, readable on light and dark ground.
std::string draw_busbw(const BusbwChart& chart);

}  // namespace foretrain
