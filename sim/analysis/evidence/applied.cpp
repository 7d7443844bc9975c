// The field gives the residual and its certainty; the interval of the simulation comes from
// sim/analysis/uncertainty and is narrowed here.
#include "sim/analysis/evidence/applied.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/analysis/evidence/runs_to_make.hpp"
#include "sim/analysis/spreads/kinds.hpp"

namespace foretrain {

namespace {

/// Returns what more GPUs add to the half-width of one GPU's step: the difference of squares.
double added(double one, double here) { return std::sqrt(std::max(0.0, here * here - one * one)); }

}  // namespace

bool has_evidence(const Scenario& scenario) {
  return step_model_of(scenario).has_measured_runs && scenario.batch_of_kind.empty() &&
         !scenario.gpus.empty();
}

bool is_worth_applying(const Estimate& e, const Observation& question) {
  if (e.neighbours.empty() || e.narrowing() >= kWorthApplying) return false;
  const auto is_own = [&](const Neighbour& n) {
    return !question.source.empty() && n.row.source == question.source;
  };
  return question.what != Observed::collective || std::ranges::any_of(e.neighbours, is_own);
}

/// The names are keys of evidence stores, so they must never change. The order is that of Architecture.
std::string_view name_of_architecture(Architecture architecture) {
  constexpr std::array<std::string_view, 12> kNames{"cpu",    "kepler", "pascal", "volta",
                                                    "turing", "ampere", "cdna",   "cdna2",
                                                    "ada",    "hopper", "cdna3",  "blackwell"};
  return kNames[static_cast<std::size_t>(architecture)];
}

Observation step_question(const Scenario& s, std::int64_t batch_per_gpu) {
  Observation q;
  q.what = Observed::step;
  q.model = s.model.name;
  q.network = kNetworkKindNames[static_cast<std::size_t>(network_kind(s))];
  q.gpu = s.cluster.node.gpu.name;
  q.architecture = name_of_architecture(s.cluster.node.gpu.architecture);
  q.cluster = s.cluster.name;
  q.framework = name_of(s.workload.framework.kind);
  q.execution = name_of(s.workload.framework.execution);
  q.precision = name_of(s.workload.precision);
  q.strategy = s.strategy;
  q.size = static_cast<double>(batch_per_gpu);
  return q;
}

Observation ratio_question(const Scenario& s, std::int64_t batch_per_gpu, int gpus, int nodes) {
  Observation q = step_question(s, batch_per_gpu);
  q.what = Observed::ratio;
  q.gpus = gpus, q.nodes = nodes;
  return q;
}

/// The batch of the first listed number is the one that the question names.
AppliedEvidence evidence_for(const StepSimulator& simulator, const EvidenceUse& use, bool is_anchored) {
  const Scenario& scenario = simulator.scenario();
  AppliedEvidence out;
  if (use.field == nullptr || !has_evidence(scenario)) return out;
  const std::int64_t batch = simulator.batch_per_gpu(scenario.gpus.front());
  if (!is_anchored) {
    Observation question = step_question(scenario, batch);
    question.source = use.source;
    Estimate e = use.field->at(question);
    if (is_worth_applying(e, question)) out.step = std::move(e);
  }
  out.gpus = scenario.gpus.back();
  if (out.gpus > 1) {
    Observation question = ratio_question(scenario, batch, out.gpus, simulator.placement(out.gpus).nodes);
    question.source = use.source;
    if (Estimate e = use.field->at(question); is_worth_applying(e, question)) out.ratio = std::move(e);
  }
  if (use.suggests_runs && !is_anchored) out.runs = runs_to_make(simulator, out, use);
  out.correction.one_gpu = out.step.log_factor;
  // The residual of the ratio is divided evenly among the doublings of GPUs.
  if (out.gpus > 1) out.correction.per_doubling = out.ratio.log_factor / std::log2(out.gpus);
  return out;
}

Interval narrowed(const AppliedEvidence& evidence, const RawPoint& raw, const RawPoint& one) {
  const bool knows_largest = evidence.known_on(evidence.gpus) != nullptr;
  // A ratio that comes from runs of the very training does not narrow other numbers.
  const double of_step = evidence.step.narrowing(), of_ratio = knows_largest ? 1 : evidence.ratio.narrowing();
  const auto below = [](const RawPoint& p) { return std::log(p.step_s / p.interval.low_s); };
  const auto above = [](const RawPoint& p) { return std::log(p.interval.high_s / p.step_s); };
  const double step = raw.step_s * evidence.correction.factor(raw.gpus);
  if (const KnownReach* known = evidence.known_on(raw.gpus))
    return {step * std::exp(-known->step), step * std::exp(known->step), raw.interval.level};
  const double known = evidence.known.empty() ? 0 : evidence.known.front().step;
  // The part of the step and the part that more GPUs add are independent, so their squares add up.
  const auto reach = [&](double at_one, double here) {
    return known > 0 ? std::hypot(known, of_ratio * added(at_one, here))
                     : std::hypot(std::min(at_one, here) * of_step, of_ratio * added(at_one, here));
  };
  return {step * std::exp(-reach(below(one), below(raw))), step * std::exp(reach(above(one), above(raw))),
          raw.interval.level};
}

/// The ratio of a run is known only relative to one GPU.
std::optional<Range> known_speedup(const AppliedEvidence& evidence, const PredictionPoint& p) {
  const KnownReach* known = evidence.known_on(p.gpus);
  if (known == nullptr || p.gpus == 1 || evidence.calibrated_on != 1) return std::nullopt;
  return Range{p.speedup * std::exp(-known->ratio), p.speedup * std::exp(known->ratio)};
}

/// The ends of the epoch's and the run's intervals move in proportion to those of the step.
void with_step_interval(PredictionPoint& p, const Interval& interval) {
  const auto moved = [&](const Interval& whole, double value) {
    const double low =
        p.interval.low_s < p.step_s ? (p.step_s - interval.low_s) / (p.step_s - p.interval.low_s) : 1;
    const double high =
        p.interval.high_s > p.step_s ? (interval.high_s - p.step_s) / (p.interval.high_s - p.step_s) : 1;
    return Interval{value - low * (value - whole.low_s), value + high * (whole.high_s - value), whole.level};
  };
  p.epoch_interval = moved(p.epoch_interval, p.epoch_s);
  p.total_interval = moved(p.total_interval, p.total_s);
  p.interval = interval;
}

}  // namespace foretrain
