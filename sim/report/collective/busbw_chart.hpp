// A chart of bus bandwidth over message size: predicted lines and measured points.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/scenario/csv/measurements.hpp"

namespace foretrain {

/// A point of the chart: message size in bytes and bus bandwidth in bytes per second.
struct BusbwPoint {
  double bytes = 0, bytes_per_second = 0;
  /// 90 % interval of the bandwidth; 0: none.
  double low = 0, high = 0;
};

/// A series of the chart with its name in the legend.
struct BusbwSeries {
  std::string label;
  /// Measured series are drawn as points, predicted ones as a line.
  bool measured = false;
  std::vector<BusbwPoint> points;
};

/// The chart of bus bandwidth over message size.
struct BusbwChart {
  std::string title;
  std::vector<BusbwSeries> series;
};

/// Returns the chart of the curve and of those measured rows that have the same cluster, operation, GPUs and
/// nodes. Each measured series becomes a series of points. Rows without bandwidth (one rank, nothing sent)
/// are left out.
BusbwChart busbw_chart(const CollectiveCurve& curve, const std::vector<CollectiveMeasurement>& measured);

/// Returns the chart as SVG with logarithmic axes. Light and dark backgrounds both work.
std::string draw_busbw(const BusbwChart& chart);

}  // namespace foretrain
