// Memoized prediction of points: the search for the crossover asks for the same numbers as the table, so
// steps are kept by their number of GPUs.
#include "sim/analysis/step/point_predictor.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "sim/analysis/step/epoch.hpp"
#include "sim/analysis/step/lower_limit.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Returns the part of the run that takes longest, in words, for the error message.
std::string longest_part(const PredictionPoint& p, double epochs) {
  const RunOverhead& overhead = p.overhead;
  const std::array<std::pair<double, std::string>, 4> parts{
      {{epochs * p.epoch_s, fmt::format("{:g} epochs of {:.3g} s", epochs, p.epoch_s)},
       {overhead.validation_s, "validation"},
       {overhead.checkpoint_s, "checkpoints"},
       {overhead.periodic_s, "what happens every so many epochs"}}};
  return std::max_element(parts.begin(), parts.end())->second;
}

/// Throws InputError when the run exceeds kLongestRun, with the part that makes it so long.
void refuse_endless_run(const PredictionPoint& p, double epochs) {
  if (p.total_s <= kLongestRun) return;
  throw InputError(fmt::format("the training would take longer than {:.0f} days on {}: {}",
                               kLongestRun / 86400, counted(p.gpus, "GPU"), longest_part(p, epochs)),
                   "check run.epochs, data.samples and run.every");
}

}  // namespace

PointPredictor::PointPredictor(const Scenario& scenario, int most_gpus)
    : scenario_(scenario), simulator_(scenario, most_gpus), device_(default_device_model(scenario)) {}

/// Serves another training on the same cluster, whose graph and collectives it shares.
PointPredictor::PointPredictor(const Scenario& scenario, const PointPredictor& other)
    : scenario_(scenario),
      simulator_(scenario, other.simulator_),
      device_(other.device_),
      correction_(other.correction_) {}

const SimulatedStep& PointPredictor::step(int gpus) {
  const auto known = simulated_.find(gpus);
  if (known != simulated_.end()) return known->second;
  return simulated_.emplace(gpus, simulator_.simulate(gpus, device_, reading_)).first->second;
}

/// A measured correction stretches the step and all its accounts alike.
Throughput PointPredictor::throughput(int gpus) {
  const SimulatedStep& simulated = step(gpus);
  const double factor = correction_.factor(gpus);
  Throughput out{samples_per_step(gpus) / (factor * simulated.step_s), simulated.breakdown,
                 factor * simulated.step_s};
  for (double& seconds : out.breakdown) seconds *= factor;
  return out;
}

/// Several processes train on the same sample without a DistributedSampler; it counts once.
double PointPredictor::samples_per_step(int gpus) const {
  return static_cast<double>(simulator_.global_batch(gpus)) / readers_of_a_sample(scenario_, gpus);
}

PredictionPoint PointPredictor::point(int gpus, Decisions& decisions) {
  const Throughput rate = throughput(gpus);
  const SimulatedStep& simulated = step(gpus);
  decisions.add(simulated.decisions);
  PredictionPoint p;
  p.gpus = gpus;
  p.nodes = reserved_gpus(scenario_, gpus).nodes;
  p.batch_per_gpu = simulator_.batch_per_gpu(gpus);
  p.global_batch = simulator_.global_batch(gpus);
  p.step_s = rate.step_s;
  p.breakdown = rate.breakdown;
  p.buckets = simulated.buckets, p.large = simulated.large;
  p.samples_per_s = rate.samples_per_s;
  add_epoch(p);
  add_memory_of_ranks(p, scenario_, simulated);
  p.waits_for_slower_s = correction_.factor(gpus) * simulated.waits_for_slower_s;
  decisions.add("memory on " + counted(gpus, "GPU"),
                fmt::format("{}, {} of {}", memory_verdict(p), to_string(p.memory.total()),
                            to_string(p.memory_capacity)),
                fmt::format("{}; largest batch per GPU {}", memory_parts(p.memory), p.largest_batch));
  if (p.host_memory.is_used())
    decisions.add("host memory on " + counted(gpus, "GPU"),
                  fmt::format("{} of {} on each node", to_string(p.host_memory.total()),
                              p.knows_host() ? to_string(p.host_capacity) : "an unknown amount"),
                  host_memory_parts(p.host_memory));
  return p;
}

/// A last, smaller step and all work outside of steps may take next to nothing, so neither is in the bound.
PredictionPoint PointPredictor::best_conceivable(int gpus) const {
  const StepLimit limit = step_limit(simulator_, gpus, device_);
  PredictionPoint p;
  p.gpus = gpus;
  p.nodes = reserved_gpus(scenario_, gpus).nodes;
  p.batch_per_gpu = simulator_.batch_per_gpu(gpus);
  p.global_batch = simulator_.global_batch(gpus);
  p.step_s = limit.step_s();
  p.breakdown[static_cast<std::size_t>(Account::compute)] = limit.kernels_s;
  p.samples_per_s =
      p.step_s > 0 ? samples_per_step(gpus) / p.step_s : std::numeric_limits<double>::infinity();
  const EpochShape shape = epoch_shape(scenario_, gpus);
  p.steps_per_epoch = shape.steps, p.knows_epochs = scenario_.workload.data.samples > 0;
  const std::int64_t whole_steps = shape.partial_batch > 0 ? shape.steps - 1 : shape.steps;
  p.epoch_s = static_cast<double>(whole_steps) * p.step_s;
  p.total_s = scenario_.epochs * p.epoch_s;
  p.gpu_hours = p.total_s * gpus / 3600;
  return p;
}

bool PointPredictor::fits(int gpus) {
  PredictionPoint p;
  p.gpus = gpus;
  p.batch_per_gpu = simulator_.batch_per_gpu(gpus);
  add_memory_of_ranks(p, scenario_, step(gpus));
  return p.fits();
}

const SimulatedStep& PointPredictor::one_gpu(std::int64_t batch) {
  if (batch == simulator_.batch_per_gpu(1)) return step(1);
  const auto known = one_gpu_steps_.find(batch);
  if (known != one_gpu_steps_.end()) return known->second;
  return one_gpu_steps_.emplace(batch, simulator_.simulate(1, batch, device_, Reading::accounts))
      .first->second;
}

/// The last step of an epoch is shorter by the time that its smaller batch saves on one GPU. This costs no
/// simulation of a further number of GPUs.
double PointPredictor::partial_step(const PredictionPoint& p, std::int64_t batch) {
  const double saved = one_gpu(p.batch_per_gpu).step_s - one_gpu(batch).step_s;
  return std::max(0.0, p.step_s - correction_.factor(1) * saved);
}

void PointPredictor::add_epoch(PredictionPoint& p) {
  const EpochShape shape = epoch_shape(scenario_, p.gpus);
  // A partial step with a full batch on the fullest GPU takes as long as any other.
  const bool has_partial = shape.partial_batch > 0 && shape.partial_batch < p.batch_per_gpu;
  const double partial = has_partial ? partial_step(p, shape.partial_batch) : p.step_s;
  p.steps_per_epoch = shape.steps, p.knows_epochs = scenario_.workload.data.samples > 0;
  Workload workload = scenario_.workload;
  // Under strong scaling the batch is this number's share of the global batch.
  workload.batch_per_gpu = p.batch_per_gpu;
  const double restart_s = loader_restart_s(workload, first_node(scenario_));
  p.epoch_s = epoch_s(shape, p.step_s, partial, restart_s);
  p.overhead = run_overhead(simulator_, device_, p.gpus, restart_s);
  // An epoch's time holds its restart, which the overhead counts for all epochs together.
  p.total_s = scenario_.epochs * (p.epoch_s - restart_s) + p.overhead.total_s();
  refuse_endless_run(p, scenario_.epochs);
  p.gpu_hours = p.total_s * p.gpus / 3600;
}

}  // namespace foretrain
