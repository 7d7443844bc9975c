// Steps of a network that the degrees of [parallel] cut: each sort of chunk is timed once, then the pipeline.
#pragma once

#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// Multiplies every time of the step (length, accounts, critical path, waits, parts) by `factor`.
void lengthen(SimulatedStep& step, double factor);

/// The functions of the "cut" row of step_models(), whose contracts are in step_model.hpp. A number of GPUs
/// below the fewest that can run the layout is charged its share of the step of the fewest; efficiencies
/// count from there. The batch argument is ignored: the layout's micro-batch applies.
struct CutStep {
  static SimulatedStep simulate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                                const DeviceModel& device, Reading reading);
  static double evaluate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                         const DeviceModel& device);
  /// Records one step pass by pass, on at least as many GPUs as the layout needs.
  static StepRecording record(const StepSimulator& simulator, int gpus, const DeviceModel& device,
                              RecordingSize size);
  /// Adds the memory of the fullest stage; the largest batch is a micro-batch.
  static void add_memory(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy);
  /// Returns the first reason why these GPUs cannot run the layout: the job's limits, too few GPUs, or
  /// degrees that do not divide them. Empty if they can.
  static std::string why_not(const Scenario& scenario, int gpus);
};

}  // namespace foretrain
