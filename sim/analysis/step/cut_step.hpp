// Steps of a network that the degrees of [parallel] cut: every sort of chunk once, then the pipeline.
#pragma once

#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// The functions of this row of step_models(). Fewer GPUs than can run the layout have their share of what
/// the fewest do: efficiencies count from there.
struct CutStep {
  static SimulatedStep simulate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                                const DeviceModel& device, Reading reading);
  static double evaluate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                         const DeviceModel& device);
  /// The step pass by pass, on at least as many GPUs as it needs.
  static StepRecording record(const StepSimulator& simulator, int gpus, const DeviceModel& device,
                              RecordingSize size);
  static void add_memory(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy);
  /// Also why the layout does not divide them.
  static std::string why_not(const Scenario& scenario, int gpus);
};

}  // namespace foretrain
