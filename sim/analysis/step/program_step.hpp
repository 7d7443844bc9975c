// Steps of a recorded program, replayed like a strategy's plan on as many ranks as it was recorded for.
#pragma once

#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// The functions of the "program" row of step_models(), whose contracts are in step_model.hpp. A number of
/// GPUs below the fewest of the recording is charged its share of the step of the fewest.
struct ProgramStep {
  static SimulatedStep simulate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                                const DeviceModel& device, Reading reading);
  static double evaluate(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                         const DeviceModel& device);
  /// Returns true for stated numbers and for doublings of the fewest: each number needs a program of its own.
  static bool may_be_answer(const Scenario& scenario, int gpus);
  /// Adds the memory of the recorded storages and of what lies on a GPU outside of them.
  static void add_memory(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy);
  static std::string memory_advice(const PredictionPoint& point, const Scenario& scenario,
                                   const StrategyMemory& strategy);
};

}  // namespace foretrain
