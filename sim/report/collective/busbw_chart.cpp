// Draws bus bandwidth over message size as SVG. The frame spans whole decades of bandwidth and whole powers
// of two of size. Curves rise to the right, so the legend has room at the lower right.
#include "sim/report/collective/busbw_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/report/drawing/svg_label.hpp"

namespace foretrain {

namespace {

// Pixels of the drawing and of the margins around its frame.
constexpr double kWidth = 760, kHeight = 440, kLeft = 76, kRight = 20, kTop = 44, kBottom = 56;
constexpr std::array<std::string_view, 9> kChartColors{"#0a7bbd", "#d9580d", "#0f9d6c", "#b5589a", "#b08900",
                                                       "#7a6ff0", "#c8443c", "#0e8f9c", "#8a6d52"};
// Largest number of measured series with a legend entry each. One colour is left for the prediction.
constexpr std::size_t kMostMeasuredSeries = kChartColors.size() - 1;

// Colours have enough contrast on light and dark backgrounds; only text changes with the scheme.
constexpr std::string_view kChartStyle =
    "<style>\n"
    "  text { font: 13px system-ui, sans-serif; fill: #3d444d; }\n"
    "  .title { font-size: 15px; font-weight: 600; }\n"
    "  .grid { stroke: #8c959f; stroke-opacity: 0.25; }\n"
    "  .frame { fill: none; stroke: #8c959f; stroke-opacity: 0.6; }\n"
    "  .predicted { fill: none; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round; }\n"
    "  .interval { fill-opacity: 0.15; stroke: none; }\n"
    "  .measured { fill-opacity: 0.75; }\n"
    "  @media (prefers-color-scheme: dark) { text { fill: #d1d7e0; } }\n"
    "</style>\n";

// Logarithms of the frame's edges: base 2 for bytes, base 10 for bytes per second.
struct ChartFrame {
  double x0 = 3, x1 = 4, y0 = 9, y1 = 10;
  /// Return the pixel of a size and of a rate.
  double x(double bytes) const {
    return kLeft + (std::log2(bytes) - x0) / (x1 - x0) * (kWidth - kLeft - kRight);
  }
  double y(double rate) const {
    return kHeight - kBottom - (std::log10(rate) - y0) / (y1 - y0) * (kHeight - kTop - kBottom);
  }
};

/// Returns a frame around all points and intervals. An empty chart gets a frame of some size, too.
ChartFrame frame_of(const BusbwChart& chart) {
  // The start lies outside of all data, so that the first point sets all four edges.
  ChartFrame frame{64, 0, 30, 0};
  for (const BusbwSeries& series : chart.series) {
    for (const BusbwPoint& p : series.points) {
      frame.x0 = std::min(frame.x0, std::floor(std::log2(p.bytes))),
      frame.x1 = std::max(frame.x1, std::ceil(std::log2(p.bytes)));
      // A point without interval counts with its rate alone.
      frame.y0 = std::min(frame.y0, std::floor(std::log10(p.low > 0 ? p.low : p.bytes_per_second)));
      frame.y1 = std::max(frame.y1, std::ceil(std::log10(std::max(p.high, p.bytes_per_second))));
    }
  }
  if (frame.x0 > frame.x1) return {};
  if (frame.x0 == frame.x1) frame.x1 += 1;
  if (frame.y0 == frame.y1) frame.y1 += 1;
  return frame;
}

/// Returns the axis of sizes, with at most eleven labels at whole powers of two.
std::string size_axis(const ChartFrame& frame) {
  std::string out;
  const int step = std::max(1, static_cast<int>(std::ceil((frame.x1 - frame.x0) / 10)));
  for (int power = static_cast<int>(frame.x0); power <= static_cast<int>(frame.x1); power += step) {
    const double x = frame.x(std::ldexp(1.0, power));
    out += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n",
                       x, kTop, kHeight - kBottom);
    out += svg_label(x, kHeight - kBottom + 19, "middle", size_label(power));
  }
  return out + svg_label((kLeft + kWidth - kRight) / 2, kHeight - 12, "middle", "message size");
}

/// Returns the axis of bandwidth, with a label in GB/s at each decade.
std::string bandwidth_axis(const ChartFrame& frame) {
  std::string out;
  for (int power = static_cast<int>(frame.y0); power <= static_cast<int>(frame.y1); ++power) {
    const double y = frame.y(std::pow(10.0, power));
    out += fmt::format("<line class=\"grid\" x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>\n",
                       y, kLeft, kWidth - kRight);
    out += svg_label(kLeft - 8, y + 4, "end", fmt::format("{:g}", std::pow(10.0, power - 9)));
  }
  const double middle = (kTop + kHeight - kBottom) / 2;
  return out + svg_label(20, middle, "middle", "bus bandwidth (GB/s)",
                         fmt::format(" transform=\"rotate(-90 20 {:.1f})\"", middle));
}

/// Returns a predicted series as a line.
std::string line_of_series(const BusbwSeries& series, const ChartFrame& frame, std::string_view color) {
  std::string out = fmt::format("<polyline class=\"predicted\" stroke=\"{}\" points=\"", color);
  for (const BusbwPoint& p : series.points) {
    fmt::format_to(std::back_inserter(out), "{:.1f},{:.1f} ", frame.x(p.bytes), frame.y(p.bytes_per_second));
  }
  return out + "\"/>\n";
}

/// Returns the 90 % interval as a band, whose outline runs along the upper edge and back along the lower one.
std::string band_of(const BusbwSeries& series, const ChartFrame& frame, std::string_view color) {
  std::string there, back;
  for (const BusbwPoint& p : series.points) {
    if (!(p.low > 0)) continue;
    there += fmt::format("{:.1f},{:.1f} ", frame.x(p.bytes), frame.y(p.high));
    back.insert(0, fmt::format("{:.1f},{:.1f} ", frame.x(p.bytes), frame.y(p.low)));
  }
  if (there.empty()) return {};
  return fmt::format(
      "<polygon class=\"interval\" fill=\"{}\" points=\"{}{}\"><title>90 % interval</title></polygon>\n",
      color, there, back);
}

/// Returns a measured series as points with tooltips.
std::string dots_of(const BusbwSeries& series, const ChartFrame& frame, std::string_view color) {
  std::string out = fmt::format("<g class=\"measured\" fill=\"{}\">\n", color);
  for (const BusbwPoint& p : series.points) {
    fmt::format_to(
        std::back_inserter(out),
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"><title>{:.0f} B: {:.4g} GB/s</title></circle>\n",
        frame.x(p.bytes), frame.y(p.bytes_per_second), p.bytes, p.bytes_per_second * 1e-9);
  }
  return out + "</g>\n";
}

/// Returns the legend. It is placed from the bottom up, so that the last entry stands directly above the
/// frame.
std::string chart_legend(const BusbwChart& chart) {
  std::string out;
  double y = kHeight - kBottom - 14 -
             20 * static_cast<double>(chart.series.size() - std::min<std::size_t>(1, chart.series.size()));
  for (std::size_t i = 0; i < chart.series.size(); ++i, y += 20) {
    const std::string_view color = kChartColors[i % kChartColors.size()];
    const double x = kWidth - kRight - 14;
    if (chart.series[i].measured)
      out += fmt::format("<circle class=\"measured\" fill=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>\n",
                         color, x - 9, y - 4);
    else
      out += fmt::format(
          "<line class=\"predicted\" stroke=\"{0}\" x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"{3:.1f}\" "
          "y2=\"{3:.1f}\"/>\n",
          color, x - 18, x, y - 4);
    out += svg_label(x - 26, y, "end", xml_text(chart.series[i].label));
  }
  return out;
}

/// Returns the measured rows that match the curve, by series. Too many series are joined into one, as a
/// legend could not distinguish them.
std::vector<BusbwSeries> measured_series(const CollectiveCurve& curve,
                                         const std::vector<CollectiveMeasurement>& rows) {
  std::map<std::string, BusbwSeries> by_name;
  // Bus bandwidth is bytes over time, times this factor, as in nccl-tests.
  const double factor = busbw_factor(curve.op, curve.gpus());
  for (const CollectiveMeasurement& m : rows) {
    const bool same = m.cluster == curve.cluster && m.op == name_of(curve.op) && m.gpus == curve.gpus() &&
                      m.nodes == curve.placement.nodes;
    if (!same || m.bytes <= 0 || factor <= 0) continue;
    const double rate = static_cast<double>(m.bytes) / (m.time_us * 1e-6) * factor;
    // A logarithmic axis has no place for zero.
    if (!std::isfinite(rate) || rate <= 0) continue;
    BusbwSeries& series = by_name[m.series];
    series.label = "measured: " + m.series, series.measured = true;
    series.points.push_back({static_cast<double>(m.bytes), rate, 0, 0});
  }
  std::vector<BusbwSeries> out;
  for (auto& [name, series] : by_name) out.push_back(std::move(series));
  // Few series keep their own names.
  if (out.size() <= kMostMeasuredSeries) return out;
  BusbwSeries all{fmt::format("measured: {} series", out.size()), true, {}};
  for (const BusbwSeries& series : out)
    all.points.insert(all.points.end(), series.points.begin(), series.points.end());
  return {all};
}

}  // namespace

// Points without bandwidth cannot be drawn on a logarithmic axis.
BusbwChart busbw_chart(const CollectiveCurve& curve, const std::vector<CollectiveMeasurement>& measured) {
  const int nodes = curve.placement.nodes;
  BusbwChart chart{fmt::format("{} on {} of {}{}", name_of(curve.op), counted(curve.gpus(), "GPU"),
                               curve.cluster, nodes > 1 ? fmt::format(", {} nodes", nodes) : ""),
                   measured_series(curve, measured)};
  BusbwSeries line{"predicted", false, {}};
  for (const CollectivePoint& p : curve.points) {
    if (!(p.busbw.per_second > 0)) continue;
    BusbwPoint& point = line.points.emplace_back();
    // The interval of the time becomes one of the rate: the longest time is the lowest rate.
    point.bytes = static_cast<double>(p.size.count), point.bytes_per_second = p.busbw.per_second;
    const std::optional<TimeRange> interval = interval_of(p);
    if (!interval) continue;
    const double time = to_seconds(p.time), rate = p.busbw.per_second;
    point.low = rate * time / to_seconds(interval->high),
    point.high = rate * time / to_seconds(interval->low);
  }
  std::ranges::stable_sort(line.points, {}, &BusbwPoint::bytes);
  chart.series.insert(chart.series.begin(), std::move(line));
  return chart;
}

// The drawing consists of title, axes, frame, series and legend, in this order.
std::string draw_busbw(const BusbwChart& chart) {
  const ChartFrame frame = frame_of(chart);
  const std::string title = xml_text(chart.title);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" "
      "aria-label=\"Bus bandwidth over message size: {2}\">\n",
      kWidth, kHeight, title);
  out += kChartStyle;
  out += svg_label(kLeft, 26, "start", title, " class=\"title\"") + size_axis(frame) + bandwidth_axis(frame);
  out += fmt::format("<rect class=\"frame\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n",
                     kLeft, kTop, kWidth - kLeft - kRight, kHeight - kTop - kBottom);
  // The prediction comes first in the list and is drawn last, so that it lies above the points.
  for (std::size_t i = chart.series.size(); i-- > 0;) {
    const BusbwSeries& series = chart.series[i];
    const std::string_view color = kChartColors[i % kChartColors.size()];
    out += band_of(series, frame, color);
    out += series.measured ? dots_of(series, frame, color) : line_of_series(series, frame, color);
  }
  return out + chart_legend(chart) + "</svg>\n";
}

}  // namespace foretrain
