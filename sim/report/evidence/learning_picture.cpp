// Draws how predictions improve with jobs. Both panels have the same scale of percent. The first runs over
// jobs, the second over the number of known jobs.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/report/drawing/svg_label.hpp"
#include "sim/report/evidence/evidence_report.hpp"

namespace foretrain {

namespace {

// Size of a panel and its margins in pixels.
constexpr double kLearningWidth = 760, kLearningHeight = 300, kLearningLeft = 76, kLearningRight = 150,
                 kLearningTop = 44, kLearningBottom = 56;
// Colours have enough contrast on light and dark backgrounds; only text changes with the scheme.
constexpr std::string_view kLearningStyle =
    "<style>\n"
    "  text { font: 13px system-ui, sans-serif; fill: #3d444d; }\n"
    "  .title { font-size: 15px; font-weight: 600; }\n"
    "  .grid { stroke: #8c959f; stroke-opacity: 0.25; }\n"
    "  .line { fill: none; stroke-width: 2.25; stroke-linejoin: round; }\n"
    "  .band { fill: #0a7bbd; fill-opacity: 0.15; stroke: none; }\n"
    "  .dot { fill: #d9580d; }\n"
    "  @media (prefers-color-scheme: dark) { text { fill: #d1d7e0; } }\n"
    "</style>\n";

// A value to draw.
struct PlacedValue {
  // Position along the axis from 0 to 1, and the value.
  double x = 0, y = 0;
};

// A panel with its axis from `low` to `high` and grid lines at a distance of `step`.
struct LearningPanel {
  // Upper edge in pixels.
  double top = 0;
  double low = 0, high = 1, step = 0.1;
  /// Return the pixel of a position and of a value; values outside are drawn on the edge.
  double x(double along) const {
    return kLearningLeft + along * (kLearningWidth - kLearningLeft - kLearningRight);
  }
  double y(double value) const {
    const double part = (std::clamp(value, low, high) - low) / (high - low);
    return top + kLearningHeight - kLearningBottom -
           part * (kLearningHeight - kLearningTop - kLearningBottom);
  }
};

/// Returns a panel whose axis has whole steps around the values, and at most eight of them.
LearningPanel panel_for(double top, double low, double high) {
  LearningPanel panel{top, 0, 0, 0.05};
  while ((high - low) / panel.step > 8) panel.step *= 2;
  panel.low = panel.step * std::floor(low / panel.step);
  panel.high = std::max(panel.low + panel.step, panel.step * std::ceil(high / panel.step));
  return panel;
}

/// Returns title, grid lines and labels in percent.
std::string percent_axis(const LearningPanel& panel, std::string_view title) {
  std::string out = svg_label(kLearningLeft, panel.top + 26, "start", title, " class=\"title\"");
  for (double value = panel.low; value < panel.high + panel.step / 2; value += panel.step) {
    out += fmt::format("<line class=\"grid\" x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>\n",
                       panel.y(value), panel.x(0), panel.x(1));
    out +=
        svg_label(kLearningLeft - 8, panel.y(value) + 4, "end", fmt::format("{:.0f} %", 100 * value + 0.0));
  }
  return out;
}

/// Returns the points of a line.
std::string polyline_of(const LearningPanel& panel, const std::vector<PlacedValue>& values) {
  std::string out;
  for (const PlacedValue& v : values) out += fmt::format("{:.1f},{:.1f} ", panel.x(v.x), panel.y(v.y));
  return out;
}

/// Returns a line with its name behind the right end.
std::string named_line(const LearningPanel& panel, const std::vector<PlacedValue>& values,
                       std::string_view color, std::string_view name) {
  return fmt::format("<polyline class=\"line\" stroke=\"{}\" points=\"{}\"/>\n", color,
                     polyline_of(panel, values)) +
         svg_label(panel.x(1) + 8, panel.y(values.back().y) + 4, "start", name);
}

/// Returns the panel of jobs in their order: what was expected of each, its 90 % interval, and what it
/// measured.
std::string drawn_jobs(const std::vector<LearnedRun>& jobs, const std::string& cluster) {
  double low = 0, high = 0;
  for (const LearnedRun& job : jobs) {
    low = std::min({low, std::expm1(job.measured), std::expm1(job.expected - job.reach)});
    high = std::max({high, std::expm1(job.measured), std::expm1(job.expected + job.reach)});
  }
  const LearningPanel panel = panel_for(0, low, high);
  std::vector<PlacedValue> expected, upper, lower;
  std::string dots;
  const double gaps = std::max<double>(1, static_cast<double>(jobs.size()) - 1);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const double x = static_cast<double>(i) / gaps;
    expected.push_back({x, std::expm1(jobs[i].expected)});
    upper.push_back({x, std::expm1(jobs[i].expected + jobs[i].reach)});
    lower.insert(lower.begin(), {x, std::expm1(jobs[i].expected - jobs[i].reach)});
    dots += fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>\n", panel.x(x),
                        panel.y(std::expm1(jobs[i].measured)));
  }
  std::string out = percent_axis(panel, "Slower than simulated: jobs of " + xml_text(cluster));
  out += fmt::format("<polygon class=\"band\" points=\"{}{}\"/>\n", polyline_of(panel, upper),
                     polyline_of(panel, lower));
  out += named_line(panel, expected, "#0a7bbd", "expected, 90 %") + dots;
  // Labels are put on about eleven jobs at most.
  const double below = kLearningHeight - kLearningBottom;
  for (std::size_t i = 0; i < jobs.size(); i += 1 + jobs.size() / 11)
    out += svg_label(panel.x(static_cast<double>(i) / gaps), below + 19, "middle", fmt::format("{}", i));
  return out + svg_label(panel.x(0.5), below + 40, "middle", "jobs known before");
}

/// Returns the panel of errors. Numbers of known jobs stand at equal distances.
std::string drawn_errors(const std::vector<LearningStep>& steps) {
  std::vector<PlacedValue> median, most, width;
  double high = 0;
  std::string axis;
  const double gaps = std::max<double>(1, static_cast<double>(steps.size()) - 1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double x = static_cast<double>(i) / gaps;
    median.push_back({x, steps[i].error.median}), most.push_back({x, steps[i].error.p90});
    width.push_back({x, steps[i].half_width});
    high = std::max({high, most.back().y, width.back().y});
  }
  const LearningPanel panel = panel_for(kLearningHeight, 0, high);
  for (std::size_t i = 0; i < steps.size(); ++i)
    axis += svg_label(panel.x(static_cast<double>(i) / gaps), 2 * kLearningHeight - kLearningBottom + 19,
                      "middle", fmt::format("{}", steps[i].jobs));
  axis += svg_label(panel.x(0.5), 2 * kLearningHeight - kLearningBottom + 40, "middle",
                    "jobs known, of ten orders");
  return percent_axis(panel, "Of the jobs to come") + named_line(panel, median, "#d9580d", "median error") +
         named_line(panel, most, "#b08900", "error, p90") +
         named_line(panel, width, "#0a7bbd", "90 % interval") + axis;
}

}  // namespace

// The second panel stands below the first one.
std::string draw_learning(const Learning& learning, const std::string& cluster) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
             "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-label=\"How predictions of {2} "
             "get better with each job\">\n",
             kLearningWidth, 2 * kLearningHeight, xml_text(cluster)) +
         std::string(kLearningStyle) + drawn_jobs(learning.jobs, cluster) + drawn_errors(learning.steps) +
         "</svg>\n";
}

}  // namespace foretrain
