// Steps of replicated ranks, each of which holds the whole network: the strategy's plan runs as a task graph.
#pragma once

#include "sim/analysis/step/lower_limit.hpp"
#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// The functions of the "replicated" row of step_models(), whose contracts are in step_model.hpp.
struct ReplicatedStep {
  static SimulatedStep simulate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                                const DeviceModel& device, Reading reading);
  static double evaluate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                         const DeviceModel& device);
  static StepRecording record(const StepSimulator& simulator, int gpus, const DeviceModel& device,
                              RecordingSize size);
  /// Returns the batch of one GPU and micro-step; where kinds of node have their own, that of the first node.
  static std::int64_t batch_per_gpu(const StepSimulator& simulator, int gpus);
  /// Returns zero where ranks are not alike.
  static StepLimit lower_limit(const StepSimulator& simulator, int gpus,
                               const DeviceModel& device);  // lower_limit.cpp
  static void add_memory(PredictionPoint& point, const Scenario& scenario,
                         const StrategyMemory& strategy);  // memory_verdict.cpp
  static std::string memory_advice(const PredictionPoint& point, const Scenario& scenario,
                                   const StrategyMemory& strategy);  // memory_verdict.cpp
};

}  // namespace foretrain
