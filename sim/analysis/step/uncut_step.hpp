// Steps of a layout of [parallel] that cuts nothing: its framework runs it as a data-parallel strategy.
#pragma once

#include <string>

#include "sim/analysis/step/lower_limit.hpp"
#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// The functions of the "uncut" row of step_models(), whose contracts are in step_model.hpp. They call the
/// replicated model on the scenario of as_strategy() (sim/scenario/uncut_layout.hpp). Where the network
/// cannot have the layout's sequence or attention, the cut model answers instead.
struct UncutStep {
  static SimulatedStep simulate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                                const DeviceModel& device, Reading reading);
  static double evaluate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                         const DeviceModel& device);
  static StepRecording record(const StepSimulator& simulator, int gpus, const DeviceModel& device,
                              RecordingSize size);
  static StepLimit lower_limit(const StepSimulator& simulator, int gpus, const DeviceModel& device);
  static void add_memory(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy);
  static std::string memory_advice(const PredictionPoint& point, const Scenario& scenario,
                                   const StrategyMemory& strategy);
};

}  // namespace foretrain
