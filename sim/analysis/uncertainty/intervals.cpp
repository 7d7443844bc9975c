// Intervals of one scenario. Step and speedup take the quantiles of the fitted table: the reach of a step is
// that of one GPU's step joined with that of its ratio to one GPU. A speedup has the reach of the ratio
// alone, so it is known better than the two steps it is made of. Crossovers compare numbers of GPUs draw by
// draw, so that what slows all of them alike cancels.
//
// Each number of GPUs costs up to four simulations, for inputs that the critical path hides. Results are
// kept.
#include "sim/analysis/uncertainty/intervals.hpp"

#include <algorithm>
#include <cmath>

#include "sim/analysis/step/step_model.hpp"

namespace foretrain {

namespace {

/// Draws over a whole curve; each costs one evaluation of every number of GPUs.
constexpr int kCurveDraws = 300;

/// Returns the value at the quantile `p` of a list of numbers of GPUs.
int quantile_of(std::vector<int> values, double p) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(p * static_cast<double>(values.size() - 1)))];
}

}  // namespace

Intervals::Intervals(PointPredictor& points) : points_(points) {}

Intervals::Intervals(PointPredictor& points, int anchor_gpus) : points_(points), anchor_gpus_(anchor_gpus) {}

/// Returns how the step responds to unit moves of each input; simulated responses are kept.
StepResponse Intervals::moves(int gpus, Detail detail) {
  const StepSimulator& simulator = points_.simulator();
  // Layouts are known by their shares on the critical path alone, in validate as well.
  if (detail == Detail::linear || step_model_of(simulator.scenario()).is_layout)
    return linear_response(simulator, points_.step(gpus), gpus, unit_moves());
  const auto known = moves_.find(gpus);
  if (known != moves_.end()) return known->second;
  return moves_
      .emplace(gpus, simulated_response(simulator, points_.device(), points_.step(gpus), gpus, unit_moves()))
      .first->second;
}

SpreadCase Intervals::step_case_on(int gpus) {
  const StepSimulator& simulator = points_.simulator();
  return step_case(simulator.scenario(), simulator.placement(gpus), moves(gpus, Detail::simulated));
}

/// Returns the case of a step over that of a smaller number of GPUs.
SpreadCase Intervals::ratio_to(int reference_gpus, int gpus, Detail detail) {
  const StepSimulator& simulator = points_.simulator();
  const Reference from = reference_at(simulator, reference_gpus, points_.step(reference_gpus).step_s);
  return ratio_case(simulator.scenario(), simulator.placement(gpus), from,
                    relative_to(moves(reference_gpus, detail), moves(gpus, detail)),
                    predicted_loss(simulator, gpus, points_.step(gpus).step_s, from));
}

/// The move of an input by its known spread is the unit move in proportion; the response is capped by it.
StepResponse Intervals::at_most(StepResponse response, const Spreads& known, int gpus, Detail detail) {
  const StepResponse unit = moves(gpus, detail);
  for (std::size_t i = 0; i < kUncertainCount; ++i) {
    if (!(unit_moves()[i] > 0)) continue;
    // The response is taken to be proportional to the input's spread.
    const double share = known[i] / unit_moves()[i];
    response.up[i] = std::min(response.up[i], share * std::abs(unit.up[i]));
    response.down[i] = std::max(response.down[i], -share * std::abs(unit.down[i]));
  }
  return response;
}

/// Limits the response to what measured constants and collectives of the cluster leave open.
StepResponse Intervals::as_calibrated(StepResponse response, int gpus, Detail detail) {
  const StepSimulator& simulator = points_.simulator();
  const Calibration& calibration = simulator.scenario().cluster.calibration;
  if (calibration.constants.empty() && calibration.collectives.empty()) return response;
  constexpr double kUnknown = 1e3;
  Spreads unknown{};
  unknown.fill(kUnknown);
  const Spreads known = with_calibration(unknown, calibration, gpus, simulator.placement(gpus).nodes);
  response = at_most(response, known, gpus, detail);
  // Measured kernels also determine most of what no input describes of a step.
  constexpr std::size_t kRest = index_of(Uncertain::unmodelled);
  const double rest = kReach * known[index_of(Uncertain::kernels)];
  response.up[kRest] = std::min(response.up[kRest], rest);
  response.down[kRest] = std::max(response.down[kRest], -rest);
  return response;
}

/// Returns the response of one number of GPUs. A measured run fixes what it was measured with, so only the
/// difference to it and the noise of two runs remain. Without one, the step and its ratio to one GPU are
/// joined.
StepResponse Intervals::response_on(int gpus, Detail detail) {
  const StepSimulator& simulator = points_.simulator();
  StepResponse out;
  if (anchor_gpus_) {
    out = run_to_run();
    if (gpus != *anchor_gpus_) out = joined(out, response_of(ratio_to(*anchor_gpus_, gpus, detail)));
  } else {
    const bool has_layout = step_model_of(simulator.scenario()).is_layout;
    out = response_of(step_case(simulator.scenario(), simulator.placement(gpus), moves(gpus, detail)));
    if (gpus > 1 && !has_layout) out = joined(out, response_of(ratio_to(1, gpus, detail)));
  }
  return as_calibrated(out, gpus, detail);
}

const StepResponse& Intervals::response(int gpus) {
  const auto known = responses_.find(gpus);
  if (known != responses_.end()) return known->second;
  return responses_.emplace(gpus, response_on(gpus, Detail::simulated)).first->second;
}

/// Returns a simulated response if there is one, else a linear one, which costs nothing.
StepResponse Intervals::cheap_response(int gpus) {
  const auto known = responses_.find(gpus);
  return known != responses_.end() ? known->second : response_on(gpus, Detail::linear);
}

/// Epoch and step have the same relative interval; the total adds the spread of start-up and checkpoints.
void Intervals::add_to(PredictionPoint& p) {
  const Reach reach = reach_of(response(p.gpus));
  p.interval = around(p.step_s, reach);
  p.epoch_interval = {p.epoch_s * p.interval.low_s / p.step_s, p.epoch_s * p.interval.high_s / p.step_s,
                      p.interval.level};
  p.total_interval = total_around(p, reach, kStartupSpread);
  p.speedup_range = {p.speedup, p.speedup};
  p.chance_of_gain = 0;
  if (p.gpus == 1) return;
  const Reach slower =
      reach_of(as_calibrated(response_of(ratio_to(1, p.gpus, Detail::simulated)), p.gpus, Detail::simulated));
  p.speedup_range = {p.speedup * std::exp(-slower.above), p.speedup * std::exp(slower.below)};
  p.chance_of_gain = chance_below(p.speedup, slower);
}

/// The whole curve is evaluated in each draw, and the fastest number and the first slower one are read from
/// it.
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
