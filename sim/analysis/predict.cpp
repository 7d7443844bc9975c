// Anchor, listed points, search. All numbers of GPUs share one cluster graph.
#include "sim/analysis/predict.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/anchor.hpp"
#include "sim/analysis/crossover.hpp"
#include "sim/analysis/intervals.hpp"
#include "sim/analysis/memory_verdict.hpp"
#include "sim/analysis/point_predictor.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/job.hpp"

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
  Predictor(const Scenario& scenario, const PredictionOptions& options, const Progress& progress)
      : scenario_(scenario),
        options_(options),
        progress_(progress),
        most_gpus_(most_gpus(scenario)),
        points_(scenario, std::max(most_gpus_, scenario.anchor ? scenario.anchor->gpus : 1)) {}

  Prediction predict() {
    Prediction prediction = heading();
    if (scenario_.anchor) anchor(prediction);
    Intervals intervals = intervals_of();
    for (std::size_t i = 0; i < scenario_.gpus.size(); ++i) {
      prediction.points.push_back(point(scenario_.gpus[i], prediction.decisions));
      intervals.add_to(prediction.points.back());
      if (progress_) progress_(0.5 * static_cast<double>(i + 1) / static_cast<double>(scenario_.gpus.size()));
    }
    prediction.crossover = search();
    prediction.crossover_spread = intervals.crossover_spread();
    if (options_.sensitivity) prediction.sensitivity = intervals.sensitivity(prediction.points.back());
    explain_search(prediction.decisions);
    if (progress_) progress_(1);
    for (const PredictionPoint& p : prediction.points) warn(p, prediction.warnings);
    return prediction;
  }

 private:
  static int most_gpus(const Scenario& scenario) {
    const std::int64_t gpus = static_cast<std::int64_t>(scenario.cluster.nodes) * scenario.cluster.node.gpus;
    const std::int64_t useful = scenario.global_batch ? std::min(gpus, *scenario.global_batch) : gpus;
    const std::int64_t listed = scenario.gpus.empty() ? 1 : scenario.gpus.back();
    return most_usable_gpus(scenario, static_cast<int>(std::max<std::int64_t>({std::min(useful, kMostSearched), listed, 1})));
  }

  /// Where the search ended, when it was not the end of the cluster.
  void explain_search(Decisions& decisions) const {
    const int all = points_.simulator().cluster_gpus();
    if (most_gpus_ == all || scenario_.global_batch) return;
    const std::string why = limit();
    decisions.add("search", fmt::format("up to {} GPU{}", most_gpus_, most_gpus_ == 1 ? "" : "s"),
                  why.empty() ? "larger numbers are simulated only when run.gpus lists them" : why);
  }

  Prediction heading() const {
    Prediction prediction;
    prediction.scenario = scenario_.name;
    prediction.model = scenario_.model.name;
    prediction.cluster = scenario_.cluster.name;
    prediction.strategy = scenario_.strategy;
    prediction.precision = name_of(scenario_.workload.precision);
    prediction.strong_scaling = scenario_.global_batch.has_value();
    prediction.cluster_gpus = points_.simulator().cluster_gpus();
    prediction.epochs = scenario_.epochs;
    prediction.samples = scenario_.workload.data.samples;
    prediction.warnings = scenario_.warnings;
    prediction.note = scenario_.note;
    return prediction;
  }

  void anchor(Prediction& prediction) {
    anchored_ = fit_anchor(points_.simulator(), points_.device(), *scenario_.anchor);
    const Anchored& anchored = *anchored_;
    points_.set_device(anchored.device);
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

  PredictionPoint point(int gpus, Decisions& decisions) {
    PredictionPoint p = points_.point(gpus, decisions);
    p.speedup = p.samples_per_s / points_.throughput(1).samples_per_s;
    p.efficiency = p.speedup / gpus;
    return p;
  }

  Crossover search() {
    const ThroughputFunction rate = [this](int gpus) { return points_.throughput(gpus); };
    Crossover found = find_crossover(rate, most_gpus_, scenario_.cluster.node.gpus, search_budget(*scenario_.workload.model));
    found.cause = job_losses(scenario_, most_gpus_) + found.cause;
    const std::string why = limit();
    if (why.empty()) return found;
    found.cause += fmt::format("; {} GPUs cannot be used: {}", most_gpus_ + 1, why);
    if (!found.no_gain_from) found.no_gain_from = most_gpus_ + 1;
    return found;
  }

  /// Why the strategy cannot use more GPUs than were searched, where the cluster has more.
  std::string limit() const { return most_gpus_ < points_.simulator().cluster_gpus() ? why_not(scenario_, most_gpus_ + 1) : std::string(); }

  void warn(const PredictionPoint& p, std::vector<std::string>& warnings) {
    if (p.steps_per_epoch == 0) warnings.push_back(fmt::format("{} GPUs: drop_last leaves no full batch in an epoch", p.gpus));
    if (p.fits_tightly()) warnings.push_back(tightness_warning(p));
    if (!p.fits()) warnings.push_back(memory_warning(p, scenario_, points_.step(p.gpus).memory));
  }

  Intervals intervals_of() { return anchored_ ? Intervals(points_, parts_of(*anchored_), scenario_.anchor->gpus) : Intervals(points_); }

  const Scenario& scenario_;
  const PredictionOptions& options_;
  const Progress& progress_;
  int most_gpus_;
  PointPredictor points_;
  std::optional<Anchored> anchored_;
};

}  // namespace

RecordedSteps record_steps(const Scenario& scenario) {
  const int gpus = scenario.gpus.back();
  const StepSimulator simulator(scenario, std::max(gpus, scenario.anchor ? scenario.anchor->gpus : 1));
  DeviceModel device = default_device_model(scenario);
  if (scenario.anchor) device = fit_anchor(simulator, device, *scenario.anchor).device;
  return simulator.record(gpus, device);
}

Prediction predict(const Scenario& scenario, const PredictionOptions& options, const Progress& progress) {
  return Predictor(scenario, options, progress).predict();
}

}  // namespace foretrain
