// Sensitivity of a prediction: each input alone at its quantiles, and the interval again as if something had
// been measured.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "sim/analysis/uncertainty/intervals.hpp"
#include "sim/base/counted.hpp"

namespace foretrain {

namespace {

/// Standard deviation of an input's logarithm that remains once it has been measured by itself.
constexpr double kMeasured = 0.05;
/// Width of a bar, as a share of the run, below which it is left out.
constexpr double kVisible = 1e-4;

/// Returns the run's time when the step's logarithm moves by `log_step` and that of the overhead by
/// `log_overhead`.
double total_with(const PredictionPoint& p, double log_step, double log_overhead) {
  const double overhead = p.overhead.total_s();
  return (p.total_s - overhead) * std::exp(log_step) + overhead * std::exp(log_overhead);
}

/// Returns the bar of one input. Start-up moves the overhead, all other inputs move the step.
TornadoBar bar_of(const UncertainInput& input, const PredictionPoint& p, const StepResponse& response) {
  TornadoBar bar{std::string(input.name), std::string(input.origin), 0, 0, 0};
  const std::size_t i = index_of(input.which);
  if (input.which == Uncertain::startup) {
    bar.low_s = total_with(p, 0, -kReach * kStartupSpread),
    bar.high_s = total_with(p, 0, kReach * kStartupSpread);
  } else {
    const auto [low, high] = std::minmax(response.up[i], response.down[i]);
    bar.low_s = total_with(p, low, 0), bar.high_s = total_with(p, high, 0);
  }
  return bar;
}

/// Sets shares by squared widths, because variances of independent inputs add.
void add_shares(std::vector<TornadoBar>& bars) {
  double sum = 0;
  for (const TornadoBar& bar : bars) sum += std::pow(bar.high_s - bar.low_s, 2);
  for (TornadoBar& bar : bars) bar.share = sum > 0 ? std::pow(bar.high_s - bar.low_s, 2) / sum : 0;
}

/// Returns the spreads that are known after these inputs have been measured; all others are unlimited.
Spreads measured(std::initializer_list<Uncertain> inputs) {
  constexpr double kUnknown = 1e3;
  Spreads known{};
  known.fill(kUnknown);
  for (const Uncertain input : inputs) known[index_of(input)] = kMeasured;
  return known;
}

/// Width relative to the step above which an interval decides little.
constexpr double kWide = 0.5;

/// Returns the measurement in words. A run on two nodes is enough to show the network of a job on many.
std::string nearest_measurement(Narrowing narrowing, const PredictionPoint& p) {
  if (narrowing == Narrowing::many_gpus && p.nodes > 2)
    return fmt::format("one short run on 2 nodes ({} GPUs; measured.gpus and measured.samples_per_s)",
                       2 * ((p.gpus + p.nodes - 1) / p.nodes));
  return std::string(describe(narrowing));
}

/// Returns the point as a run of one step without overhead.
PredictionPoint as_one_step(PredictionPoint p) {
  p.total_s = p.step_s, p.total_interval = p.interval, p.overhead = {};
  return p;
}

}  // namespace

std::string Intervals::to_narrow(const PredictionPoint& p) {
  if (!(p.interval.high_s - p.interval.low_s > kWide * p.step_s)) return {};
  const Sensitivity all = sensitivity_of_total(as_one_step(p));
  const UncertainInput* most = nullptr;
  double share = 0;
  for (const UncertainInput& input : uncertain_inputs()) {
    const auto bar = std::ranges::find(all.bars, input.name, &TornadoBar::input);
    // An input that nothing narrows, or that has no bar, cannot be recommended.
    const bool can_be_narrowed = input.narrowed_by != Narrowing::none && bar != all.bars.end();
    if (can_be_narrowed && bar->share > share) most = &input, share = bar->share;
  }
  if (most == nullptr) return {};
  return fmt::format("{:.0f} % of the uncertainty on {} comes from {}. To narrow it, measure {}", 100 * share,
                     counted(p.gpus, "GPU"), most->name, nearest_measurement(most->narrowed_by, p));
}

/// A run of the job itself leaves the noise of two runs; one on a single GPU leaves the ratio to it as well.
StepResponse Intervals::narrowed(int gpus, Narrowing measurement) {
  if (measurement == Narrowing::many_gpus || (measurement == Narrowing::one_gpu && gpus == 1))
    return run_to_run();
  if (measurement == Narrowing::one_gpu && !anchor_gpus_)
    return joined(run_to_run(), response_of(ratio_to(1, gpus, Detail::simulated)));
  if (measurement == Narrowing::collectives)
    return at_most(response(gpus), measured({Uncertain::node_links, Uncertain::network}), gpus,
                   Detail::simulated);
  if (measurement == Narrowing::input_alone)
    return at_most(response(gpus), measured({Uncertain::input}), gpus, Detail::simulated);
  return response(gpus);
}

Sensitivity Intervals::sensitivity(const PredictionPoint& p) {
  if (p.knows_epochs) return sensitivity_of_total(p);
  Sensitivity out = sensitivity_of_total(as_one_step(p));
  out.is_of_step = true;
  return out;
}

Sensitivity Intervals::sensitivity_of_total(const PredictionPoint& p) {
  Sensitivity out;
  out.gpus = p.gpus, out.total_s = p.total_s, out.interval = p.total_interval;
  for (const UncertainInput& input : uncertain_inputs()) {
    TornadoBar bar = bar_of(input, p, response(p.gpus));
    if (bar.high_s - bar.low_s > kVisible * p.total_s) out.bars.push_back(std::move(bar));
  }
  add_shares(out.bars);
  std::stable_sort(out.bars.begin(), out.bars.end(),
                   [](const TornadoBar& a, const TornadoBar& b) { return a.share > b.share; });
  for (const Narrowing measurement : {Narrowing::one_gpu, Narrowing::many_gpus, Narrowing::collectives,
                                      Narrowing::input_alone, Narrowing::whole_job}) {
    // Narrowing::one_gpu covers a job of one GPU.
    if (measurement == Narrowing::many_gpus && p.gpus == 1) continue;
    const double startup = measurement == Narrowing::whole_job ? kMeasured : kStartupSpread;
    const Interval then = total_around(p, reach_of(narrowed(p.gpus, measurement)), startup);
    // A measurement must narrow the interval by at least 1 % to be listed.
    const bool is_narrower = then.high_s - then.low_s < 0.99 * (out.interval.high_s - out.interval.low_s);
    if (is_narrower) out.narrowed.push_back({std::string(describe(measurement)), then.low_s, then.high_s});
  }
  std::stable_sort(out.narrowed.begin(), out.narrowed.end(), [](const NarrowedBy& a, const NarrowedBy& b) {
    return a.high_s - a.low_s < b.high_s - b.low_s;
  });
  return out;
}

}  // namespace foretrain
