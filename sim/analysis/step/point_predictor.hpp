// Predictions of one scenario on any number of GPUs: each number is simulated once, and its step gives epoch,
// run and memory.
#pragma once

#include <map>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/search/crossover.hpp"
#include "sim/analysis/step/epoch.hpp"
#include "sim/analysis/step/step_correction.hpp"
#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// Predicts the points of one scenario and keeps every simulated step, because the table and the searches ask
/// for the same numbers again. The scenario must outlive it. Not thread-safe.
class PointPredictor {
 public:
  /// Prepares the cluster's graph for at most `most_gpus` GPUs. The device model is the default one until
  /// set.
  PointPredictor(const Scenario& scenario, int most_gpus);
  /// Shares the cluster's graph of `other` and copies its device model and correction.
  PointPredictor(const Scenario& scenario, const PointPredictor& other);

  /// Sets the device model of steps that are simulated from here on; steps already kept are not repeated.
  void set_device(const DeviceModel& device) { device_ = device; }
  /// Sets the correction by measured runs. It applies to all results but step(), one_gpu() and evaluated(),
  /// which stay as simulated.
  void set_correction(const StepCorrection& correction) { correction_ = correction; }
  const StepCorrection& correction() const { return correction_; }
  const StepSimulator& simulator() const { return simulator_; }
  const DeviceModel& device() const { return device_; }
  /// Requests that later steps are read by kind of work, too.
  void read_parts() { reading_ = Reading::parts; }
  /// Returns the simulated step, uncorrected; the reference is valid as long as the predictor.
  const SimulatedStep& step(int gpus);
  /// Returns all steps that have been simulated so far, by number of GPUs.
  const std::map<int, SimulatedStep>& evaluated() const { return simulated_; }
  /// Returns the step of one GPU with another batch; each batch is simulated once.
  const SimulatedStep& one_gpu(std::int64_t batch_per_gpu);
  /// Returns the samples a step trains on; a sample that several processes train on counts once.
  double samples_per_step(int gpus) const;
  /// Returns samples per second, breakdown and step time, all corrected.
  Throughput throughput(int gpus);
  /// Returns all figures of a point but its intervals (intervals.hpp), and speedup and efficiency, which
  /// refer to a throughput that the caller knows. Adds to `decisions`. Throws InputError when the run takes
  /// longer than kLongestRun.
  PredictionPoint point(int gpus, Decisions& decisions);
  /// Returns bounds that no point can better, without a simulation: step, epoch, run, samples per second and
  /// GPU-hours. All other fields are empty, and no correction is applied.
  PredictionPoint best_conceivable(int gpus) const;
  /// Returns true if the training fits into the memory of this number of GPUs; it may simulate a step.
  bool fits(int gpus);

 private:
  /// Returns the seconds of an epoch's last step, which has a smaller batch.
  double partial_step(const PredictionPoint& p, std::int64_t batch);
  /// Fills epoch, run, overhead and GPU-hours of a point from its step.
  void add_epoch(PredictionPoint& p);

  const Scenario& scenario_;
  StepSimulator simulator_;
  DeviceModel device_;
  StepCorrection correction_{};
  Reading reading_ = Reading::accounts;
  /// Simulated steps by number of GPUs.
  std::map<int, SimulatedStep> simulated_;
  /// Simulated steps of one GPU by batch.
  std::map<std::int64_t, SimulatedStep> one_gpu_steps_;
};

}  // namespace foretrain
