// Steps of a recorded program: replayed as a strategy's plan is, on as many ranks as it was recorded for.
#pragma once

#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// The functions of this row of step_models(). On fewer GPUs than the fewest it was recorded on a step is
/// their share of what those do.
struct ProgramStep {
  static SimulatedStep simulate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                                const DeviceModel& device, Reading reading);
  static double evaluate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                         const DeviceModel& device);
  /// Numbers that were asked for, and doublings of the fewest: each takes a program of its own to be made.
  static bool may_be_answer(const Scenario& scenario, int gpus);
  /// Of the recorded storages, and what lies on a GPU outside of them.
  static void add_memory(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy);
  static std::string memory_advice(const PredictionPoint& point, const Scenario& scenario,
                                   const StrategyMemory& strategy);
};

}  // namespace foretrain
