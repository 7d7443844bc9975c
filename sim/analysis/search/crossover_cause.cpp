// The loss of a step is its time minus one GPU's share of the same samples. Both steps are divided by
// removing the same causes in the same order, so each part is a difference of simulations.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/causes/step_causes.hpp"
#include "sim/analysis/search/crossover_of_job.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Collects the parts of a loss.
class CauseParts {
 public:
  void add(std::string what, double seconds) {
    if (seconds >= kShortestTime) parts_.push_back({std::move(what), seconds, 0});
  }

  /// Scales the positive parts so that they sum to the loss, and orders them.
  CrossoverCause summing_to(double loss, int gpus) && {
    CrossoverCause out{gpus, loss, {}};
    double sum = 0;
    for (const LossPart& part : parts_) sum += part.seconds;
    if (loss <= 0 || sum <= 0) return out;
    for (LossPart& part : parts_) part.share = part.seconds / sum, part.seconds = part.share * loss;
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const LossPart& a, const LossPart& b) { return a.seconds > b.seconds; });
    out.parts = std::move(parts_);
    return out;
  }

 private:
  std::vector<LossPart> parts_;
};

/// Adds the losses that no cause of a step shows: uneven batches, repeated samples and GPUs without a
/// process. `one_s` is one GPU's step with its own batch.
void add_lost_shares(CauseParts& parts, const PointPredictor& points, int gpus, double one_s, double share) {
  const StepSimulator& simulator = points.simulator();
  const double working = simulator.placement(gpus).size(),
               readers = readers_of_a_sample(simulator.scenario(), gpus);
  const double even = points.samples_per_step(gpus) / points.samples_per_step(1) * readers / working;
  parts.add("a batch that does not divide evenly", one_s * (share - even));
  parts.add("processes that train on the same samples", one_s * even * (1 - 1 / readers));
  parts.add("GPUs without a process", one_s * even / readers * (1 - working / gpus));
}

/// Returns the share of one GPU's step that each of many GPUs has to do.
double share_of_one(const PointPredictor& points, int gpus) {
  const StepSimulator& simulator = points.simulator();
  if (!simulator.model().has_smaller_last_step)
    return points.samples_per_step(gpus) / points.samples_per_step(1) / gpus;
  return static_cast<double>(simulator.batch_per_gpu(gpus)) / static_cast<double>(simulator.batch_per_gpu(1));
}

/// Returns the reason why kernels take longer than the share of one GPU's.
std::string_view words_for_kernels(const SimulatedStep& many, double share) {
  if (many.waits_for_slower_s > 0) return many.waits_for;
  return share < 1 ? "kernels of a smaller batch, which use the GPU less well" : "slower kernels";
}

}  // namespace

CrossoverCause cause_of_loss(PointPredictor& points, int gpus, const std::vector<CausePart>& order) {
  const SimulatedStep& one = points.step(1);
  const SimulatedStep& many = points.step(gpus);
  const double share = share_of_one(points, gpus);
  const std::vector<double> of_one = parts_in_order(points, 1, order),
                            of_many = parts_in_order(points, gpus, order);
  CauseParts parts;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::string words = words_for(order[i].what, points.simulator(), many);
    if (share < 1 && order[i].what == Removable::host) words += ", which do not shrink with the batch";
    parts.add(std::move(words), of_many[i] - share * of_one[i]);
  }
  parts.add(std::string(words_for_kernels(many, share)), of_many.back() - share * of_one.back());
  if (points.simulator().model().has_smaller_last_step)
    add_lost_shares(parts, points, gpus, one.step_s, share);
  // The ideal step has every GPU at the pace of one GPU alone.
  const double ideal = one.step_s * points.samples_per_step(gpus) / points.samples_per_step(1) / gpus;
  return std::move(parts).summing_to(many.step_s - ideal, gpus);
}

std::string cause_sentence(const StepCauses& causes) {
  const std::string gpus = causes.gpus == 1 ? "one GPU" : fmt::format("{} GPUs", causes.gpus);
  const StepCause* most = causes.largest();
  if (most == nullptr)
    return fmt::format("the GPU's own kernels are {} % of a step on {}",
                       percent(causes.kernels_s / causes.step_s, 0), gpus);
  return fmt::format("{} cost most: {} a step on {} would take {} instead of {}", most->name, most->without,
                     gpus, to_string(seconds(most->step_s)), to_string(seconds(causes.step_s)));
}

}  // namespace foretrain
