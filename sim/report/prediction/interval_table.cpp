// Writes intervals and the sensitivity. Bars share one scale from the smallest to the largest end, on which
// the prediction is marked.
//
// A 90 % interval holds the measured value with a probability of 90 %. The sensitivity (a tornado) varies one
// uncertain input at a time and leaves the others as predicted.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/analysis/step/known_figures.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

// Width of the bars in characters.
constexpr int kBarWidth = 32;

/// These functions return a range as text; "-" when it is unknown.
std::string between(double low, double high) {
  return fmt::format("{} .. {}", spoken_time(low), spoken_time(high));
}

std::string between(const std::optional<Interval>& interval) {
  return interval ? between(interval->low_s, interval->high_s) : "-";
}

std::string between(const std::optional<Range>& range) {
  return range ? fmt::format("{} .. {}", decimal(range->low, 2), decimal(range->high, 2)) : "-";
}

/// Returns a probability; 0 and 100 % are never claimed.
std::string chance(double p) { return p > 0.99 ? "> 99 %" : p < 0.01 ? "< 1 %" : percent(p, 0) + " %"; }

// The times at both ends of the bars.
struct Scale {
  double low, high;
  int column(double value) const {
    return high > low ? static_cast<int>(std::lround((value - low) / (high - low) * (kBarWidth - 1))) : 0;
  }
};

/// Returns the bar of one input, with the prediction as "|".
std::string drawn(const TornadoBar& bar, double predicted, const Scale& scale) {
  std::string out(kBarWidth, ' ');
  for (int i = scale.column(bar.low_s); i <= scale.column(bar.high_s); ++i)
    out[static_cast<std::size_t>(i)] = '=';
  out[static_cast<std::size_t>(scale.column(predicted))] = '|';
  return out;
}

}  // namespace

// Columns: GPUs; 90 % intervals of step, total and speedup; probability that it is faster than one GPU.
std::string write_intervals(const Prediction& prediction) {
  std::string out = fmt::format("\n90 % intervals\n{:>6}   {:>22} {:>26} {:>16} {:>16}\n", "GPUs", "step",
                                "total", "speedup", "beats one GPU");
  for (const PredictionPoint& p : prediction.points) {
    const KnownFigures known = known_figures(p);
    const bool is_one = p.gpus == 1;
    out += fmt::format("{:>6}   {:>22} {:>26} {:>16} {:>16}\n", p.gpus, between(known.interval),
                       between(known.total_interval),
                       is_one && known.speedup_range ? "1" : between(known.speedup_range),
                       is_one || !known.chance_of_gain ? "-" : chance(*known.chance_of_gain));
  }
  if (!prediction.to_narrow.empty()) out += prediction.to_narrow + "\n";
  for (const std::string& beyond : prediction.extrapolated) out += "extrapolated: " + beyond + "\n";
  return out;
}

// Each line has the input, the range of the time when this input alone varies, its bar, and its share of the
// variance.
std::string write_sensitivity(const Sensitivity& s) {
  Scale scale{s.total_s, s.total_s};
  for (const TornadoBar& bar : s.bars)
    scale = {std::min(scale.low, bar.low_s), std::max(scale.high, bar.high_s)};
  std::string out = fmt::format("\nWhat {} on {} depends on: {}, 90 %: {}\n",
                                s.is_of_step ? "a step" : "the total", counted(s.gpus, "GPU"),
                                spoken_time(s.total_s), between(s.interval.low_s, s.interval.high_s));
  for (const TornadoBar& bar : s.bars)
    out += fmt::format("  {:<34} {:>26} {} {:>4} %\n", bar.input, between(bar.low_s, bar.high_s),
                       drawn(bar, s.total_s, scale), percent(bar.share, 0));
  if (!s.narrowed.empty()) out += "What to measure, and what would be left:\n";
  for (const NarrowedBy& n : s.narrowed)
    out += fmt::format("  {:>26}  {}\n", between(n.low_s, n.high_s), n.measurement);
  return out;
}

}  // namespace foretrain
