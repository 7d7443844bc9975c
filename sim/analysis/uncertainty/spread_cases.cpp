// Translation between a simulated step and the table of spreads: from moves to the features of a case, and
// from the features back to the inputs that they stand for.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/analysis/step/step_model.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Returns the sizes of an input's moves on both sides.
FeatureValue sizes_of(const StepResponse& moves, Uncertain input) {
  return {std::abs(moves.up[index_of(input)]), std::abs(moves.down[index_of(input)])};
}

/// Copies the moves of all inputs; links are those of the network on several nodes.
void take_moves(SpreadCase& out, const StepResponse& moves) {
  out.kernels = sizes_of(moves, Uncertain::kernels), out.host = sizes_of(moves, Uncertain::host);
  out.input = sizes_of(moves, Uncertain::input);
  out.links = sizes_of(moves, out.nodes > 1 ? Uncertain::network : Uncertain::node_links);
}

/// Returns the facts about any step on these GPUs.
SpreadCase case_on(const ClusterSpec& cluster, const Placement& ranks) {
  SpreadCase out;
  out.nodes = ranks.nodes;
  out.path = ranks.size() > 1 ? path_of(cluster, ranks.nodes) : MessagePath::any;
  out.is_measured = cluster.node.gpu.trainings_measured;
  return out;
}

/// Returns the distance of two sizes in doublings.
double doublings(int here, int there) {
  return std::abs(std::log2(static_cast<double>(here) / std::max(1, there)));
}

/// Returns the input that a feature stands for. Features without an input count as scaling in ratios, as
/// unmodelled in steps.
Uncertain input_of_feature(std::string_view feature, const SpreadCase& known) {
  if (feature == "kernels") return Uncertain::kernels;
  if (feature == "host") return Uncertain::host;
  if (feature == "input") return Uncertain::input;
  if (feature.starts_with("links")) return known.nodes > 1 ? Uncertain::network : Uncertain::node_links;
  return known.what == SpreadOf::ratio ? Uncertain::scaling : Uncertain::unmodelled;
}

}  // namespace

SpreadCase step_case(const Scenario& scenario, const Placement& ranks, const StepResponse& moves) {
  SpreadCase out = case_on(scenario.cluster, ranks);
  take_moves(out, moves);
  if (step_model_of(scenario).is_layout) {
    const KernelPrecision precision = layout_of(scenario).precision;
    out.what = SpreadOf::cut_step;
    out.doublings = doublings(ranks.size(), 1), out.node_doublings = doublings(ranks.nodes, 1);
    out.is_half = true, out.is_narrow = is_narrow(precision);
    out.network = NetworkKind::products;
    return out;
  }
  out.is_half = is_half(scenario.workload.precision);
  out.is_narrow = scenario.workload.precision == Precision::fp8;
  out.is_adapted = scenario.model.tuning.adapter != AdapterKind::none;
  out.is_era_known = scenario.states("framework.version") || scenario.states("framework.software");
  out.framework = scenario.workload.framework.kind;
  out.network = network_kind(scenario);
  return out;
}

SpreadCase ratio_case(const Scenario& scenario, const Placement& ranks, const Reference& reference,
                      const StepResponse& moves, double lost) {
  SpreadCase out = step_case(scenario, ranks, moves);
  out.what = SpreadOf::ratio;
  out.is_measured = scenario.cluster.trainings_measured;
  out.doublings = doublings(ranks.size(), reference.gpus);
  out.node_doublings = doublings(ranks.nodes, reference.nodes);
  out.lost = std::max(0.0, lost);
  out.drives_several = scenario.strategy == "data_parallel" || scenario.strategy == "mirrored" ||
                       scenario.strategy == "multi_worker_mirrored";
  return out;
}

/// Converts shares into moves by the same formula as linear_response(), so that rows without a simulation
/// have comparable features.
SpreadCase layout_case(const ClusterSpec& cluster, const Placement& ranks, KernelPrecision precision,
                       const StepShares& shares) {
  SpreadCase out = case_on(cluster, ranks);
  out.what = SpreadOf::cut_step;
  const auto size = [](Uncertain input, double share) {
    const double move = kReach * unit_moves()[index_of(input)];
    return FeatureValue{std::log1p(share * std::expm1(move)), -std::log1p(share * std::expm1(-move))};
  };
  out.kernels = size(Uncertain::kernels, shares.kernels), out.host = size(Uncertain::host, shares.host);
  out.links = size(Uncertain::network, shares.communication);
  out.doublings = doublings(ranks.size(), 1), out.node_doublings = doublings(ranks.nodes, 1);
  out.is_half = true, out.is_narrow = is_narrow(precision);
  out.network = NetworkKind::products;
  return out;
}

/// Several features may stand for one input; their squares add up.
StepResponse response_of(const SpreadCase& known) {
  StepResponse out;
  for (const FeatureReach& part : reaches_of(known)) {
    const std::size_t input = index_of(input_of_feature(part.feature, known));
    out.up[input] = std::hypot(out.up[input], part.reach.above);
    out.down[input] = -std::hypot(out.down[input], part.reach.below);
  }
  return out;
}

StepResponse joined(const StepResponse& a, const StepResponse& b) {
  StepResponse out;
  for (std::size_t i = 0; i < kUncertainCount; ++i) {
    out.up[i] = std::hypot(a.up[i], b.up[i]);
    out.down[i] = -std::hypot(a.down[i], b.down[i]);
  }
  return out;
}

StepResponse run_to_run() {
  StepResponse out;
  const double two_runs = std::numbers::sqrt2 * kReach * kRunToRun;
  out.up[index_of(Uncertain::run_to_run)] = two_runs;
  out.down[index_of(Uncertain::run_to_run)] = -two_runs;
  return out;
}

Reach reach_of(const StepResponse& response) {
  Reach out;
  for (std::size_t i = 0; i < kUncertainCount; ++i)
    out = joined(out, Reach{response.up[i], response.down[i]});
  return out;
}

Interval around(double value, const Reach& reach) {
  return {value * std::exp(-reach.below), value * std::exp(reach.above)};
}

/// The widths of steps and of overhead are independent, so their squares add up in seconds.
Interval total_around(const PredictionPoint& p, const Reach& step, double startup_spread) {
  const double overhead = p.overhead.total_s(), steps = p.total_s - overhead, start = kReach * startup_spread;
  return {p.total_s - std::hypot(steps * (1 - std::exp(-step.below)), overhead * (1 - std::exp(-start))),
          p.total_s + std::hypot(steps * (std::exp(step.above) - 1), overhead * (std::exp(start) - 1))};
}

}  // namespace foretrain
