// What a run does besides its training steps: start-up, loader restarts, validation, checkpoints.
#pragma once

#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// docs/models/epoch.md. `restart_s`: loader restart of each training epoch.
AroundSteps around_steps(const StepSimulator& simulator, const DeviceModel& device, int gpus,
                         double restart_s);

/// Imports, CUDA, the network's first weights, NCCL, and what the first step costs more than the others.
struct Startup {
  double imports_s = 0, cuda_s = 0, weights_s = 0, nccl_s = 0, first_step_s = 0;
  double total_s() const { return imports_s + cuda_s + weights_s + nccl_s + first_step_s; }
};
Startup usual_startup(const Scenario& scenario, int gpus);

/// What a checkpoint writes: weights, buffers and the optimizer's state.
Bytes checkpoint_bytes(const Workload& workload);

}  // namespace foretrain
