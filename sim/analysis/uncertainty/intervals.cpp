// Speedup and crossover compare numbers of GPUs draw by draw: what slows all of them down alike cancels.
#include "sim/analysis/uncertainty/intervals.hpp"

#include <algorithm>
#include <cmath>

namespace foretrain {

namespace {

/// Draws over a whole curve; each costs one evaluation of every number of GPUs.
constexpr int kCurveDraws = 300;

/// Draw by draw; both sides of a ratio took the same draw of each input.
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b, double scale) {
  std::vector<double> out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = scale * a[i] / b[i];
  return out;
}

double share_above(const std::vector<double>& values, double limit) {
  return static_cast<double>(
             std::count_if(values.begin(), values.end(), [limit](double v) { return v > limit; })) /
         static_cast<double>(values.size());
}

/// Steps and what comes around them, each with its own factor.
std::vector<double> totals(const PredictionPoint& p, const std::vector<double>& factors, const Draws& draws,
                           double startup_spread) {
  const double overhead = p.overhead.total_s(), steps = p.total_s - overhead;
  std::vector<double> out;
  out.reserve(factors.size());
  for (int i = 0; i < draws.count(); ++i) {
    const double slower = std::exp(startup_spread * draws.normal(Uncertain::startup, i));
    out.push_back(steps * factors[static_cast<std::size_t>(i)] + overhead * slower);
  }
  return out;
}

/// A prediction never lies outside of its own interval, however skewed the draws are.
Interval around_value(Interval interval, double value) {
  return {std::min(interval.low_s, value), std::max(interval.high_s, value), interval.level};
}

int quantile_of(std::vector<int> values, double p) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(p * static_cast<double>(values.size() - 1)))];
}

FrameworkKind framework_of(const PointPredictor& points) {
  return points.simulator().scenario().workload.framework.kind;
}

}  // namespace

Intervals::Intervals(PointPredictor& points)
    : points_(points),
      spreads_(spreads_of({}, framework_of(points))),
      reference_(reference_at(points.simulator(), 1, points.step(1).step_s)) {}

Intervals::Intervals(PointPredictor& points, const AnchoredParts& anchored, int anchor_gpus)
    : points_(points),
      spreads_(spreads_of(anchored, framework_of(points))),
      reference_(reference_at(points.simulator(), anchor_gpus, points.step(anchor_gpus).step_s)),
      is_anchored_(true) {}

Spreads Intervals::spreads_at(int gpus) const {
  const StepSimulator& simulator = points_.simulator();
  return with_calibration(spreads_, simulator.scenario().cluster.calibration, gpus,
                          simulator.placement(gpus).nodes);
}

/// A measured run fixes what it was measured with: only what differs from it here stays uncertain.
StepResponse Intervals::against_anchor(const StepResponse& here) {
  if (!is_anchored_) return here;
  const SimulatedStep& there = points_.step(reference_.gpus);
  return relative_to(linear_response(points_.simulator(), points_.device(), there, reference_.gpus,
                                     spreads_at(reference_.gpus), reference_),
                     here);
}

const StepResponse& Intervals::response(int gpus) {
  const auto known = responses_.find(gpus);
  if (known != responses_.end()) return known->second;
  const StepResponse plain = simulated_response(points_.simulator(), points_.device(), points_.step(gpus),
                                                gpus, spreads_at(gpus), reference_);
  if (!is_anchored_) return responses_.emplace(gpus, plain).first->second;
  if (!at_anchor_)
    at_anchor_ = simulated_response(points_.simulator(), points_.device(), points_.step(reference_.gpus),
                                    reference_.gpus, spreads_at(reference_.gpus), reference_);
  return responses_.emplace(gpus, relative_to(*at_anchor_, plain)).first->second;
}

StepResponse Intervals::cheap_response(int gpus) {
  const auto known = responses_.find(gpus);
  if (known != responses_.end()) return known->second;
  return against_anchor(linear_response(points_.simulator(), points_.device(), points_.step(gpus), gpus,
                                        spreads_at(gpus), reference_));
}

Interval Intervals::total_interval(const PredictionPoint& p, const std::vector<double>& factors,
                                   double startup_spread) const {
  return around_value(interval_of(totals(p, factors, draws_, startup_spread)), p.total_s);
}

const std::vector<double>& Intervals::factors_of_one_gpu() {
  if (of_one_gpu_.empty()) of_one_gpu_ = step_factors(response(1), draws_, 1);
  return of_one_gpu_;
}

void Intervals::add_to(PredictionPoint& p) {
  const std::vector<double> here = step_factors(response(p.gpus), draws_, p.gpus);
  p.interval = step_interval(p.step_s, here);
  p.epoch_interval = {p.epoch_s * p.interval.low_s / p.step_s, p.epoch_s * p.interval.high_s / p.step_s,
                      p.interval.level};
  p.total_interval = total_interval(p, here, spreads_[index_of(Uncertain::startup)]);
  const std::vector<double> speedups = ratios(factors_of_one_gpu(), here, p.speedup);
  const Interval range = interval_of(speedups);
  p.speedup_range = {std::min(range.low_s, p.speedup), std::max(range.high_s, p.speedup)};
  p.chance_of_gain = p.gpus == 1 ? 0 : share_above(speedups, 1);
}

CrossoverSpread Intervals::crossover_spread() {
  struct Evaluated {
    int gpus;
    double samples_per_s;
    std::vector<double> factors;
  };
  const Draws draws(kCurveDraws);
  std::vector<Evaluated> curve;
  for (const auto& [gpus, step] : points_.evaluated())
    curve.push_back(
        {gpus, points_.throughput(gpus).samples_per_s, step_factors(cheap_response(gpus), draws, gpus)});
  CrossoverSpread spread;
  std::vector<int> fastest, slower;
  for (std::size_t i = 0; i < kCurveDraws; ++i) {
    const auto rate = [i](const Evaluated& e) { return e.samples_per_s / e.factors[i]; };
    const Evaluated* best = &curve.front();
    const Evaluated* first_slower = nullptr;
    for (const Evaluated& e : curve) {
      if (rate(e) > kNoticeable * rate(*best)) best = &e;
      if (first_slower == nullptr && e.gpus > 1 && rate(e) < kSlower * rate(curve.front())) first_slower = &e;
    }
    fastest.push_back(best->gpus);
    if (first_slower != nullptr) slower.push_back(first_slower->gpus);
  }
  spread.fastest_low = quantile_of(fastest, 0.05), spread.fastest_high = quantile_of(fastest, 0.95);
  spread.chance_slower_than_one = static_cast<double>(slower.size()) / kCurveDraws;
  if (!slower.empty())
    spread.slower_from_low = quantile_of(slower, 0.05), spread.slower_from_high = quantile_of(slower, 0.95);
  return spread;
}

}  // namespace foretrain
