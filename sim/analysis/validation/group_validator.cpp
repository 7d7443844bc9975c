// The first row of a group is its anchor. It calibrates the compute model and is not scored, so the errors
// are those of scaling.
#include "sim/analysis/validation/group_validator.hpp"

#include <algorithm>
#include <cmath>

#include "sim/analysis/step/anchor.hpp"
#include "sim/analysis/step/epoch.hpp"
#include "sim/cluster/node_kinds.hpp"

namespace foretrain {

namespace {

using Metric = Measurement::Metric;

/// Returns the measured step in seconds. Requires a metric with a known unit.
double step_of(const StepSimulator& simulator, const Measurement& m) {
  if (m.metric == Metric::step_s) return m.value;
  if (m.metric == Metric::samples_per_s) return static_cast<double>(simulator.global_batch(m.gpus)) / m.value;
  const EpochShape shape = epoch_shape(simulator.scenario(), m.gpus);
  return m.value / static_cast<double>(std::max<std::int64_t>(1, shape.steps));
}

/// Returns a step time in the row's own metric; a rate as samples per second.
double in_metric(const StepSimulator& simulator, const Measurement& m, double step_s) {
  const double samples_per_s = static_cast<double>(simulator.global_batch(m.gpus)) / step_s;
  switch (m.metric) {
    case Metric::step_s:
      return step_s;
    case Metric::samples_per_s:
    case Metric::rate:
      return samples_per_s;
    case Metric::epoch_s:
      break;
  }
  const EpochShape shape = epoch_shape(simulator.scenario(), m.gpus);
  return step_s * static_cast<double>(std::max<std::int64_t>(1, shape.steps));
}

bool more_is_better(Metric metric) { return metric == Metric::samples_per_s || metric == Metric::rate; }

/// Returns the value that perfect scaling from the anchor would have.
double linear_scaling(const Measurement& anchor, const Measurement& m) {
  const double ratio = static_cast<double>(m.gpus) / anchor.gpus;
  if (more_is_better(m.metric)) return anchor.value * ratio;
  return m.metric == Metric::step_s ? anchor.value : anchor.value / ratio;
}

/// Returns true if the nodes that a row names can hold its GPUs; otherwise the scenario's layout places it.
bool fits(const Measurement& m, const ClusterSpec& cluster) {
  return m.nodes >= 1 && m.nodes <= std::min(m.gpus, nodes_of_kind(cluster, 0)) &&
         m.gpus <= m.nodes * cluster.node.gpus;
}

/// Returns the most nodes that any row is spread over.
int most_nodes(const TrainingRows& rows, const ClusterSpec& cluster) {
  int most = 1;
  for (const Measurement* m : rows) most = std::max(most, fits(*m, cluster) ? m->nodes : 1);
  return most;
}

}  // namespace

GroupValidator::GroupValidator(const TrainingRows& rows, const Scenario& scenario,
                               const ValidationOptions& options)
    : options_(options),
      simulator_(scenario, rows.back()->gpus, most_nodes(rows, scenario.cluster)),
      device_(default_device_model(scenario)),
      reference_gpus_(options.anchor ? rows.front()->gpus : 1) {
  for (const Measurement* m : rows) {
    // Rows state their nodes, which may differ from the densest placement.
    if (fits(*m, scenario.cluster)) simulator_.spread(m->gpus, m->nodes);
  }
  if (options.anchor) use_anchor(*rows.front());
}

std::vector<ValidatedPoint> GroupValidator::points(const TrainingRows& rows) {
  std::vector<ValidatedPoint> points;
  for (std::size_t i = options_.anchor ? 1 : 0; i < rows.size(); ++i) {
    points.push_back(point(*rows[i]));
    if (options_.anchor) points.back().linear = linear_scaling(*rows.front(), *rows[i]);
  }
  return points;
}

UnreachedAnchor GroupValidator::unreached(const TrainingRows& rows) const {
  const Measurement& anchor = *rows.front();
  UnreachedAnchor out{anchor.series, anchor.line, anchor.gpus, why_unreached_, {}};
  for (std::size_t i = 1; i < rows.size(); ++i) out.unscored.push_back({rows[i]->gpus, run_of(*rows[i])});
  return out;
}

/// A rate in unknown units can only fix the unit, so such a group is scored on scaling alone.
void GroupValidator::use_anchor(const Measurement& anchor) {
  if (anchor.metric == Metric::rate) {
    unit_ = anchor.value / in_metric(simulator_, anchor, step(anchor.gpus).step_s);
    return;
  }
  try {
    Anchored anchored = fit_anchor(simulator_, device_, {anchor.gpus, step_of(simulator_, anchor)});
    device_ = anchored.device;
    // The calibrated step was simulated during the search, so it is not simulated again.
    if (anchored.step) steps_.emplace(anchor.gpus, *std::move(anchored.step));
  } catch (const InputError& error) {
    why_unreached_ = error.first_message();
  }
}

ValidatedRow GroupValidator::run_of(const Measurement& m) const {
  return {m.model,    m.cluster,   simulator_.scenario().cluster.node.gpu.name,
          m.strategy, m.precision, m.batch_per_gpu,
          m.nodes,    m.metric};
}

const SimulatedStep& GroupValidator::step(int gpus) {
  if (const auto known = steps_.find(gpus); known != steps_.end()) return known->second;
  return steps_.emplace(gpus, simulator_.simulate(gpus, device_, Reading::accounts)).first->second;
}

const StepResponse& GroupValidator::moves(int gpus) {
  if (const auto known = moves_.find(gpus); known != moves_.end()) return known->second;
  return moves_.emplace(gpus, simulated_response(simulator_, device_, step(gpus), gpus, unit_moves()))
      .first->second;
}

/// The anchor's job is the reference, or one GPU without an anchor.
Reference GroupValidator::reference() {
  return reference_at(simulator_, reference_gpus_, step(reference_gpus_).step_s);
}

SpreadCase GroupValidator::ratio(int gpus) {
  return ratio_case(simulator_.scenario(), simulator_.placement(gpus), reference(),
                    relative_to(moves(reference_gpus_), moves(gpus)),
                    predicted_loss(simulator_, gpus, step(gpus).step_s, reference()));
}

/// An anchored prediction is a ratio to a known step; without an anchor the step itself is uncertain.
SpreadCase GroupValidator::spread_case(int gpus) {
  if (options_.anchor) return ratio(gpus);
  return step_case(simulator_.scenario(), simulator_.placement(gpus), moves(gpus));
}

/// A step on several GPUs joins the reach of the step and of its ratio to one GPU if there is no anchor.
Interval GroupValidator::interval(int gpus) {
  Reach reach = reach_of(spread_case(gpus));
  if (!options_.anchor && gpus > 1) reach = joined(reach, reach_of(ratio(gpus)));
  return around(step(gpus).step_s, reach);
}

ValidatedPoint GroupValidator::point(const Measurement& m) {
  ValidatedPoint p;
  p.gpus = m.gpus;
  p.line = m.line;
  p.measured = m.value;
  p.predicted = unit_ * in_metric(simulator_, m, step(m.gpus).step_s);
  p.error = std::abs(p.predicted / p.measured - 1);
  if (options_.intervals) {
    const Interval interval = this->interval(m.gpus);
    p.low = unit_ * in_metric(simulator_, m, interval.low_s);
    p.high = unit_ * in_metric(simulator_, m, interval.high_s);
    // The ends change places for metrics in which more is better.
    if (p.low > p.high) std::swap(p.low, p.high);
  }
  if (options_.evidence) p.evidence = evidence(m);
  p.row = run_of(m);
  return p;
}

RowEvidence GroupValidator::evidence(const Measurement& m) {
  const Scenario& scenario = simulator_.scenario();
  RowEvidence e;
  e.framework = scenario.workload.framework.kind;
  e.execution = scenario.workload.framework.execution;
  e.architecture = scenario.cluster.node.gpu.architecture;
  e.reference_gpus = reference_gpus_;
  e.network = network_kind(scenario);
  e.spread_case = spread_case(m.gpus), e.source = m.source;
  return e;
}

}  // namespace foretrain
