// The variance of the logarithm of the largest job's step is the sum of one GPU's and of the ratio's. The
// variance that remains after a run depends on the run's settings alone, not on the value it will measure, so
// it is known beforehand.
#include "sim/analysis/evidence/runs_to_make.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/analysis/evidence/applied.hpp"

namespace foretrain {

namespace {

/// Compares the candidate runs of one training.
class RunsAhead {
 public:
  RunsAhead(const StepSimulator& simulator, const AppliedEvidence& evidence, const EvidenceUse& use)
      : simulator_(simulator), evidence_(evidence), use_(use), step_(question(Observed::step, 1)) {
    if (evidence.gpus > 1) ratio_ = question(Observed::ratio, evidence.gpus);
    step_spread_ = spread_now(step_, evidence.step), ratio_spread_ = spread_now(ratio_, evidence.ratio);
  }

  /// Candidates are one GPU, a short job, and one GPU with a short job.
  std::vector<RunsToMake> best_first() const {
    std::vector<RunsToMake> out{left_by({question(Observed::step, 1)})};
    for (const int gpus : short_jobs()) {
      out.push_back(left_by({question(Observed::job, gpus)}));
      out.push_back(left_by({question(Observed::step, 1), question(Observed::ratio, gpus)}));
    }
    std::ranges::stable_sort(out, {}, &RunsToMake::left);
    return out;
  }

 private:
  Observation question(Observed what, int gpus) const {
    const Scenario& scenario = simulator_.scenario();
    const std::int64_t batch = simulator_.batch_per_gpu(scenario.gpus.front());
    Observation q = ratio_question(scenario, batch, gpus, simulator_.placement(gpus).nodes);
    q.what = what, q.source = use_.source;
    return q;
  }

  /// Returns the present spread: that of the applied estimate, or the prior without one.
  double spread_now(const Observation& asked, const Estimate& applied) const {
    if (asked.what == Observed::ratio && evidence_.gpus == 1) return 0;
    return applied.neighbours.empty() ? use_.field->at(asked).prior : applied.spread;
  }

  /// Returns the GPUs of one node and of two, as far as the training uses as many.
  std::vector<int> short_jobs() const {
    const int per_node = simulator_.scenario().cluster.node.gpus;
    std::vector<int> out;
    for (const int gpus : {per_node, 2 * per_node})
      if (gpus > 1 && gpus <= evidence_.gpus) out.push_back(gpus);
    return out;
  }

  /// Returns the remaining share of the uncertainty; squares of step and ratio add up.
  RunsToMake left_by(std::vector<Observation> runs) const {
    const double step = std::min(step_spread_, use_.field->spread_after(step_, runs));
    const double ratio =
        ratio_spread_ > 0 ? std::min(ratio_spread_, use_.field->spread_after(ratio_, runs)) : 0;
    return {std::move(runs), std::hypot(step, ratio) / std::hypot(step_spread_, ratio_spread_)};
  }

  const StepSimulator& simulator_;
  const AppliedEvidence& evidence_;
  const EvidenceUse& use_;
  Observation step_, ratio_{};
  double step_spread_ = 0, ratio_spread_ = 0;
};

}  // namespace

std::vector<RunsToMake> runs_to_make(const StepSimulator& simulator, const AppliedEvidence& evidence,
                                     const EvidenceUse& use) {
  const bool can_tell = use.field != nullptr && !use.source.empty() && has_evidence(simulator.scenario()) &&
                        !simulator.scenario().anchor;
  return can_tell ? RunsAhead(simulator, evidence, use).best_first() : std::vector<RunsToMake>{};
}

}  // namespace foretrain
