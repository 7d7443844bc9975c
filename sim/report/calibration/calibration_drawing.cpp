// Draws a calibration as SVG. Panels stand in a grid of two columns. The frame of a panel spans whole powers
// of two of size and whole decades of time, so that all labels are round.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/report/calibration/calibration_reports.hpp"
#include "sim/report/drawing/svg_label.hpp"

namespace foretrain {

namespace {

// Sizes of a panel and its margins, and of the bars, in pixels.
constexpr double kPanelWidth = 470, kPanelHeight = 300, kPanelLeft = 62, kPanelRight = 28, kPanelTop = 40,
                 kPanelBottom = 44;
constexpr double kBarHeight = 18, kBarLeft = 190;
// Largest number of bars and of panels.
constexpr std::size_t kMostBars = 60, kMostPanels = 100;

// Colours have enough contrast on light and dark backgrounds; only text changes with the scheme.
constexpr std::string_view kCalibrationStyle =
    "<style>\n"
    "  text { font: 12px system-ui, sans-serif; fill: #3d444d; }\n"
    "  .title { font-size: 14px; font-weight: 600; }\n"
    "  .grid { stroke: #8c959f; stroke-opacity: 0.25; }\n"
    "  .frame { fill: none; stroke: #8c959f; stroke-opacity: 0.6; }\n"
    "  .fitted { stroke: #0a7bbd; stroke-width: 2.25; fill: none; stroke-linecap: round; }\n"
    "  .band { fill: #0a7bbd; fill-opacity: 0.18; }\n"
    "  .measured { fill: #d9580d; fill-opacity: 0.75; }\n"
    "  .bar { fill: #0a7bbd; fill-opacity: 0.75; }\n"
    "  .worst { fill: #d9580d; }\n"
    "  @media (prefers-color-scheme: dark) { text { fill: #d1d7e0; } }\n"
    "</style>\n";

// A measured message size and time.
struct Point {
  double bytes = 0, seconds = 0;
};

// The place of one panel and the logarithms of its frame's edges: base 2 for bytes, base 10 for seconds. The
// initial edges are inverted, so that the first point sets them.
struct PanelFrame {
  double left = 0, top = 0;
  double x0 = 64, x1 = 0, y0 = 20, y1 = -20;
  /// Extends the frame to hold a point.
  void hold(double bytes, double seconds) {
    x0 = std::min(x0, std::floor(std::log2(bytes))), x1 = std::max(x1, std::ceil(std::log2(bytes)));
    y0 = std::min(y0, std::floor(std::log10(seconds))), y1 = std::max(y1, std::ceil(std::log10(seconds)));
  }
  /// Gives an empty frame or one without extent some size.
  void widen() {
    if (x0 > x1) x0 = 3, x1 = 4, y0 = -6, y1 = -5;
    if (x0 == x1) x1 += 1;
    if (y0 == y1) y1 += 1;
  }
  /// Return the pixel of a size and of a time. Times outside are drawn on the edge.
  double x(double bytes) const {
    return left + kPanelLeft + (std::log2(bytes) - x0) / (x1 - x0) * (kPanelWidth - kPanelLeft - kPanelRight);
  }
  double y(double seconds) const {
    const double share = std::clamp((std::log10(seconds) - y0) / (y1 - y0), 0.0, 1.0);
    return top + kPanelHeight - kPanelBottom - share * (kPanelHeight - kPanelTop - kPanelBottom);
  }
};

/// Returns grid lines and labels of both axes, with at most seven labels of sizes.
std::string axes(const PanelFrame& frame) {
  std::string out;
  const double bottom = frame.top + kPanelHeight - kPanelBottom,
               right = frame.left + kPanelWidth - kPanelRight;
  const int step = std::max(1, static_cast<int>(std::ceil((frame.x1 - frame.x0) / 6)));
  for (int power = static_cast<int>(frame.x0); power <= static_cast<int>(frame.x1); power += step) {
    const double x = frame.x(std::ldexp(1.0, power));
    out += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n",
                       x, frame.top + kPanelTop, bottom);
    out += svg_label(x, bottom + 18, "middle", size_label(std::max(power, 0)));
  }
  for (int power = static_cast<int>(frame.y0); power <= static_cast<int>(frame.y1); ++power) {
    const double y = frame.y(std::pow(10.0, power));
    out += fmt::format("<line class=\"grid\" x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>\n",
                       y, frame.left + kPanelLeft, right);
    out += svg_label(frame.left + kPanelLeft - 6, y + 4, "end", to_string(seconds(std::pow(10.0, power))));
  }
  return out +
         fmt::format("<rect class=\"frame\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n",
                     frame.left + kPanelLeft, frame.top + kPanelTop, kPanelWidth - kPanelLeft - kPanelRight,
                     kPanelHeight - kPanelTop - kPanelBottom);
}

/// Returns the seconds that a fitted segment predicts for a message of this size.
double time_of(const TimeSegment& s, double bytes) { return s.latency_s + bytes * s.seconds_per_byte; }

/// Returns the sizes at which a segment is drawn. A line of latency and bandwidth is bent when both axes are
/// logarithmic, so it needs several points.
std::vector<double> sizes_of(const TimeSegment& s) {
  const int steps =
      s.most > s.least ? std::clamp(static_cast<int>(std::ceil(2 * std::log2(s.most / s.least))), 1, 60) : 1;
  std::vector<double> out;
  for (int i = 0; i <= steps; ++i)
    out.push_back(s.least * std::pow(s.most / s.least, static_cast<double>(i) / steps));
  return out;
}

/// Returns one segment as a line within its 90 % band.
std::string piece(const TimeSegment& s, const PanelFrame& frame) {
  const double factor = std::exp(kDeviationsOf90 * s.spread);
  std::string line, upper, lower;
  for (const double bytes : sizes_of(s)) {
    const double x = frame.x(bytes), seconds = time_of(s, bytes);
    fmt::format_to(std::back_inserter(line), "{:.1f},{:.1f} ", x, frame.y(seconds));
    fmt::format_to(std::back_inserter(upper), "{:.1f},{:.1f} ", x, frame.y(seconds * factor));
    // The band's outline runs along the upper edge and back along the lower one.
    lower = fmt::format("{:.1f},{:.1f} ", x, frame.y(seconds / factor)) + lower;
  }
  return fmt::format(
      "<polygon class=\"band\" points=\"{}{}\"/>\n<polyline class=\"fitted\" points=\"{}\"/>\n", upper, lower,
      line);
}

/// Returns a measured point, with a tooltip.
std::string dot(const Point& p, const PanelFrame& frame) {
  return fmt::format(
      "<circle class=\"measured\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{:.0f} B: {}</title></circle>\n",
      frame.x(p.bytes), frame.y(p.seconds), p.bytes, to_string(seconds(p.seconds)));
}

/// Returns the title of a panel: operation, job, and forced algorithm and protocol.
std::string title_of(const CalibratedCollective& c) {
  std::string out = fmt::format("{} on {}", c.op, counted(c.gpus, "GPU"));
  if (c.nodes > 1) out += ", " + counted(c.nodes, "node");
  for (const std::string& forced : {c.algorithm, c.protocol}) out += forced.empty() ? "" : ", " + forced;
  return xml_text(out);
}

/// Returns true when the segment can be drawn on logarithmic axes.
bool can_draw(const TimeSegment& s) {
  return s.least > 0 && s.most >= s.least && time_of(s, s.least) > 0 && std::isfinite(time_of(s, s.most));
}

/// Returns the panel of one collective: title, axes, fitted segments, measured points.
std::string collective_panel(const CalibratedCollective& c, const std::vector<Point>& points,
                             PanelFrame frame) {
  std::vector<TimeSegment> drawn;
  std::copy_if(c.segments.begin(), c.segments.end(), std::back_inserter(drawn), can_draw);
  for (const Point& p : points) frame.hold(p.bytes, p.seconds);
  for (const TimeSegment& s : drawn)
    frame.hold(s.least, time_of(s, s.least)), frame.hold(s.most, time_of(s, s.most));
  frame.widen();
  std::string out =
      svg_label(frame.left + kPanelLeft, frame.top + 24, "start", title_of(c), " class=\"title\"") +
      axes(frame);
  for (const TimeSegment& s : drawn) out += piece(s, frame);
  for (const Point& p : points) out += dot(p, frame);
  return out;
}

/// Returns the measured points of a collective, in seconds.
std::vector<Point> points_of(const CalibrationFit& fit, int collective) {
  std::vector<Point> out;
  for (const CalibrationFit::Residual& r : fit.residuals) {
    if (r.collective == collective && r.unit == SampleUnit::us && r.bytes > 0 && r.measured > 0)
      out.push_back({r.bytes, r.measured * 1e-6});
  }
  return out;
}

// The root mean square of log(fitted / measured) over the samples of one kind.
struct Bar {
  std::string what;
  double squares = 0;
  int samples = 0;
  double size() const { return std::sqrt(squares / samples); }
};

/// Returns the bars, largest first, and at most kMostBars.
std::vector<Bar> bars_of(const CalibrationFit& fit) {
  std::map<std::string, Bar> by_name;
  for (const CalibrationFit::Residual& r : fit.residuals) {
    if (r.collective >= 0 || r.measured <= 0 || r.fitted <= 0) continue;
    Bar& bar = by_name[r.what];
    bar.what = r.what, bar.samples += 1, bar.squares += std::pow(std::log(r.fitted / r.measured), 2);
  }
  std::vector<Bar> out;
  for (const auto& [name, bar] : by_name) out.push_back(bar);
  std::stable_sort(out.begin(), out.end(), [](const Bar& a, const Bar& b) { return a.size() > b.size(); });
  out.resize(std::min(out.size(), kMostBars));
  return out;
}

/// Returns the panel with the bars. The first bar is the worst and is marked.
std::string bar_panel(const std::vector<Bar>& bars, double top) {
  std::string out = svg_label(kPanelLeft, top + 24, "start",
                              "Residuals of the constants' samples (root mean square)", " class=\"title\"");
  const double longest = std::max(bars.front().size(), 1e-9),
               room = 2 * kPanelWidth - kBarLeft - kPanelRight - 110;
  double y = top + kPanelTop;
  for (std::size_t i = 0; i < bars.size(); ++i, y += kBarHeight) {
    const double width = bars[i].size() / longest * room;
    out += svg_label(kBarLeft - 6, y + 12, "end", xml_text(bars[i].what));
    out += fmt::format("<rect class=\"{}\" x=\"{:.0f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\"/>\n",
                       i == 0 ? "bar worst" : "bar", kBarLeft, y, width, kBarHeight - 5);
    out += svg_label(kBarLeft + width + 6, y + 12, "start",
                     fmt::format("{:.1f} % of {}", 100 * bars[i].size(), bars[i].samples));
  }
  return out;
}

}  // namespace

// Bars stand below all panels.
std::string draw_calibration(const CalibrationFit& fit) {
  const std::vector<CalibratedCollective>& collectives = fit.calibration.collectives;
  const std::vector<Bar> bars = bars_of(fit);
  const std::size_t panels = std::min(collectives.size(), kMostPanels);
  const double rows = std::ceil(static_cast<double>(panels) / 2);
  const double of_bars = bars.empty() ? 0 : kPanelTop + kBarHeight * static_cast<double>(bars.size()) + 20;
  const double height = std::max(rows * kPanelHeight + of_bars, kPanelHeight);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" "
      "aria-label=\"Measured and fitted: {2}\">\n",
      2 * kPanelWidth, height, xml_text(fit.calibration.name));
  out += kCalibrationStyle;
  for (std::size_t i = 0; i < panels; ++i) {
    PanelFrame frame;
    frame.left = i % 2 == 0 ? 0 : kPanelWidth,
    frame.top = kPanelHeight * std::floor(static_cast<double>(i) / 2);
    out += collective_panel(collectives[i], points_of(fit, static_cast<int>(i)), frame);
  }
  if (!bars.empty()) out += bar_panel(bars, rows * kPanelHeight);
  return out + "</svg>\n";
}

}  // namespace foretrain
