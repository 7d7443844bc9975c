// Anchor, listed points, search. All numbers of GPUs share one cluster graph.
#include "sim/analysis/predict.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/anchor.hpp"
#include "sim/analysis/around_steps.hpp"
#include "sim/analysis/crossover.hpp"
#include "sim/analysis/epoch.hpp"
#include "sim/analysis/memory_verdict.hpp"
#include "sim/analysis/step_simulator.hpp"
#include "sim/analysis/uncertainty.hpp"
#include "sim/base/quantity.hpp"

namespace foretrain {

namespace {

/// The search goes no further, unless the scenario lists larger numbers; every real cluster of the catalog is smaller.
constexpr std::int64_t kMostSearched = 4096;

/// Numbers of GPUs the crossover search may evaluate: many for small networks, few when one simulation is heavy.
int search_budget(const ExpandedModel& model) {
  const auto per_step =
      static_cast<double>(model.forward.size() + model.backward.size() + 4 * model.parameters.size() + model.buffers.size() + 1);
  return static_cast<int>(std::clamp(120'000 / per_step, 8.0, 160.0));
}

class Predictor {
 public:
  Predictor(const Scenario& scenario, const Progress& progress)
      : scenario_(scenario),
        progress_(progress),
        most_gpus_(most_gpus(scenario)),
        simulator_(scenario, std::max(most_gpus_, scenario.anchor ? scenario.anchor->gpus : 1)),
        device_(default_device_model(scenario)) {}

  Prediction predict() {
    Prediction prediction = heading();
    if (scenario_.anchor) anchor(prediction);
    one_gpu_ = throughput(1);
    for (std::size_t i = 0; i < scenario_.gpus.size(); ++i) {
      prediction.points.push_back(point(scenario_.gpus[i], prediction.decisions));
      if (progress_) progress_(0.5 * static_cast<double>(i + 1) / static_cast<double>(scenario_.gpus.size()));
    }
    prediction.crossover = search();
    if (most_gpus_ < simulator_.cluster_gpus() && !scenario_.global_batch)
      prediction.decisions.add("search", fmt::format("up to {} GPUs", most_gpus_),
                               "larger numbers are simulated only when run.gpus lists them");
    if (progress_) progress_(1);
    for (const PredictionPoint& p : prediction.points) warn(p, prediction.warnings);
    return prediction;
  }

 private:
  static int most_gpus(const Scenario& scenario) {
    const std::int64_t gpus = static_cast<std::int64_t>(scenario.cluster.nodes) * scenario.cluster.node.gpus;
    const std::int64_t useful = scenario.global_batch ? std::min(gpus, *scenario.global_batch) : gpus;
    return static_cast<int>(std::max<std::int64_t>({std::min(useful, kMostSearched), scenario.gpus.empty() ? 1 : scenario.gpus.back(), 1}));
  }

  Prediction heading() const {
    Prediction prediction;
    prediction.scenario = scenario_.name;
    prediction.model = scenario_.model.name;
    prediction.cluster = scenario_.cluster.name;
    prediction.strategy = scenario_.strategy;
    prediction.precision = name_of(scenario_.workload.precision);
    prediction.strong_scaling = scenario_.global_batch.has_value();
    prediction.cluster_gpus = simulator_.cluster_gpus();
    prediction.epochs = scenario_.epochs;
    prediction.samples = scenario_.workload.data.samples;
    prediction.warnings = scenario_.warnings;
    prediction.note = scenario_.note;
    return prediction;
  }

  void anchor(Prediction& prediction) {
    const Anchored anchored = fit_anchor(simulator_, device_, *scenario_.anchor);
    device_ = anchored.device;
    const int gpus = scenario_.anchor->gpus;
    prediction.decisions.add("anchor", fmt::format("{} x {:.3f}", anchored.scaled, anchored.factor),
                             fmt::format("measured step {} on {} GPU{}; {}", to_string(seconds(scenario_.anchor->step_s)), gpus,
                                         gpus == 1 ? "" : "s", anchored.why));
    if (anchored.efficiency > 0) {
      prediction.decisions.add("implied efficiency", fmt::format("{:.1f} % of peak", 100 * anchored.efficiency),
                               "what the step's matrix products and convolutions would take at the GPU's peak, over the measured step");
    }
    for (std::string& doubt : doubts_about(anchored)) prediction.warnings.push_back(std::move(doubt));
  }

  Throughput throughput(int gpus) {
    const auto known = simulated_.find(gpus);
    const SimulatedStep& step =
        known != simulated_.end() ? known->second : simulated_.emplace(gpus, simulator_.simulate(gpus, device_)).first->second;
    return {static_cast<double>(simulator_.global_batch(gpus)) / step.step_s, step.breakdown, step.step_s};
  }

  PredictionPoint point(int gpus, Decisions& decisions) {
    const Throughput rate = throughput(gpus);
    const SimulatedStep& step = simulated_.at(gpus);
    decisions.add(step.decisions);
    PredictionPoint p;
    p.gpus = gpus;
    p.nodes = simulator_.placement(gpus).nodes;
    p.batch_per_gpu = simulator_.batch_per_gpu(gpus);
    p.global_batch = simulator_.global_batch(gpus);
    p.step_s = step.step_s;
    p.breakdown = step.breakdown;
    p.buckets = step.buckets;
    p.samples_per_s = rate.samples_per_s;
    p.speedup = rate.samples_per_s / one_gpu_.samples_per_s;
    p.efficiency = p.speedup / gpus;
    p.interval = step_interval(step, spreads_of(scenario_));
    add_epoch(p);
    add_memory(p, scenario_, step.memory);
    decisions.add(fmt::format("memory on {} GPU{}", gpus, gpus == 1 ? "" : "s"),
                  fmt::format("{}, {} of {}", memory_verdict(p), to_string(p.memory.total()), to_string(p.memory_capacity)),
                  fmt::format("{}; largest batch per GPU {}", memory_parts(p.memory), p.largest_batch));
    return p;
  }

  /// The step of one GPU with another batch; each batch is simulated once.
  double one_gpu_step(std::int64_t batch) {
    const auto known = one_gpu_steps_.find(batch);
    if (known != one_gpu_steps_.end()) return known->second;
    return one_gpu_steps_.emplace(batch, simulator_.simulate(1, batch, device_).step_s).first->second;
  }

  /// The last step of an epoch is shorter by what its smaller batch saves on one GPU.
  double partial_step(const PredictionPoint& p, std::int64_t batch) {
    return p.step_s - (one_gpu_step(p.batch_per_gpu) - one_gpu_step(batch));
  }

  void add_epoch(PredictionPoint& p) {
    const EpochShape shape = epoch_shape(scenario_.workload.data, p.batch_per_gpu, scenario_.knobs.accumulation, p.gpus);
    const bool has_partial = shape.partial_batch > 0 && shape.partial_batch < p.batch_per_gpu;
    const double partial = has_partial ? partial_step(p, shape.partial_batch) : p.step_s;
    p.steps_per_epoch = shape.steps;
    const double restart_s = loader_restart_s(scenario_.workload, scenario_.cluster.node);
    p.epoch_s = epoch_s(shape, p.step_s, partial, restart_s);
    p.around = around_steps(simulator_, device_, p.gpus, restart_s);
    p.total_s = scenario_.epochs * (p.epoch_s - restart_s) + p.around.total_s();
    p.gpu_hours = p.total_s * p.gpus / 3600;
  }

  Crossover search() {
    const ThroughputFunction rate = [this](int gpus) { return throughput(gpus); };
    return find_crossover(rate, most_gpus_, scenario_.cluster.node.gpus, search_budget(*scenario_.workload.model));
  }

  void warn(const PredictionPoint& p, std::vector<std::string>& warnings) const {
    if (p.steps_per_epoch == 0) warnings.push_back(fmt::format("{} GPUs: drop_last leaves no full batch in an epoch", p.gpus));
    if (p.fits_tightly()) warnings.push_back(tightness_warning(p));
    if (!p.fits()) warnings.push_back(memory_warning(p, scenario_, simulated_.at(p.gpus).memory));
  }

  const Scenario& scenario_;
  const Progress& progress_;
  int most_gpus_;
  StepSimulator simulator_;
  DeviceModel device_;
  std::map<int, SimulatedStep> simulated_;
  std::map<std::int64_t, double> one_gpu_steps_;
  Throughput one_gpu_;
};

}  // namespace

RecordedSteps record_steps(const Scenario& scenario) {
  const int gpus = scenario.gpus.back();
  const StepSimulator simulator(scenario, std::max(gpus, scenario.anchor ? scenario.anchor->gpus : 1));
  DeviceModel device = default_device_model(scenario);
  if (scenario.anchor) device = fit_anchor(simulator, device, *scenario.anchor).device;
  return simulator.record(gpus, device);
}

Prediction predict(const Scenario& scenario, const Progress& progress) { return Predictor(scenario, progress).predict(); }

}  // namespace foretrain
