// From the step to the epoch.
#pragma once

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

/// How the steps of an epoch (EpochSteps, sim/scenario/job.hpp) look to a GPU. Without data.samples an epoch
/// is one step, which no report shows (known_figures.hpp).
struct EpochShape {
  std::int64_t steps = 1;          ///< including the partial one; 0: drop_last leaves none
  std::int64_t partial_batch = 0;  ///< batch per GPU of the last step, 0 = there is no partial step
};
EpochShape epoch_shape(const Scenario& scenario, int gpus);
/// `parts`: into how many the samples of a step are cut, one for each micro-step of each GPU.
EpochShape epoch_shape(const EpochSteps& steps, std::int64_t parts);

/// Seconds lost at each start of an epoch: worker start and the first batch (docs/models/epoch.md).
double loader_restart_s(const Workload& workload, const NodeSpec& node);

/// One epoch from the steady step and the partial one.
double epoch_s(const EpochShape& shape, double step_s, double partial_step_s, double restart_s);

// What a run does besides its training steps: start-up, loader restarts, validation, checkpoints.

/// docs/models/epoch.md. `restart_s`: loader restart of each training epoch.
RunOverhead run_overhead(const StepSimulator& simulator, const DeviceModel& device, int gpus,
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
