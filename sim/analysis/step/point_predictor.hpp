// One scenario on any number of GPUs: each number simulated once, and from its step the epoch, the run, the
// memory.
#pragma once

#include <map>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/search/crossover.hpp"
#include "sim/analysis/step/epoch.hpp"
#include "sim/analysis/step/step_correction.hpp"
#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// The scenario must outlive it.
class PointPredictor {
 public:
  /// `most_gpus`: the largest number that will be asked for. The device model is the default one until set.
  PointPredictor(const Scenario& scenario, int most_gpus);
  /// With the cluster's graph, the device model and the correction of `other`.
  PointPredictor(const Scenario& scenario, const PointPredictor& other);

  void set_device(const DeviceModel& device) { device_ = device; }
  /// From here on of everything but step(), one_gpu() and evaluated(), which stay as simulated.
  void set_correction(const StepCorrection& correction) { correction_ = correction; }
  const StepCorrection& correction() const { return correction_; }
  const StepSimulator& simulator() const { return simulator_; }
  const DeviceModel& device() const { return device_; }
  /// From here on steps are read by kind of work, too.
  void read_parts() { reading_ = Reading::parts; }
  const SimulatedStep& step(int gpus);
  /// What has been simulated so far, by the number of GPUs.
  const std::map<int, SimulatedStep>& evaluated() const { return simulated_; }
  /// The step of one GPU with another batch; each batch is simulated once.
  const SimulatedStep& one_gpu(std::int64_t batch_per_gpu);
  /// Samples a step trains on, each once, also when several processes train on it.
  double samples_per_step(int gpus) const;
  Throughput throughput(int gpus);
  /// Everything but speedup and efficiency, which refer to a throughput that the caller knows, and the
  /// intervals (intervals.hpp). Adds to `decisions`.
  PredictionPoint point(int gpus, Decisions& decisions);
  /// What no point can be better than, without a simulation: step, epoch, run, samples per second, GPU-hours;
  /// the rest is empty. No correction is in it.
  PredictionPoint best_conceivable(int gpus) const;
  /// Whether the training fits into the memory of so many.
  bool fits(int gpus);

 private:
  double partial_step(const PredictionPoint& p, std::int64_t batch);
  void add_epoch(PredictionPoint& p);

  const Scenario& scenario_;
  StepSimulator simulator_;
  DeviceModel device_;
  StepCorrection correction_{};
  Reading reading_ = Reading::accounts;
  std::map<int, SimulatedStep> simulated_;
  std::map<std::int64_t, SimulatedStep> one_gpu_steps_;
};

}  // namespace foretrain
