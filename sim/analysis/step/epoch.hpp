// From the step to the epoch.
#pragma once

#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// How an epoch is cut into steps. The sampler gives every rank the same number of samples, padded, or cut
/// with drop_last.
struct EpochShape {
  std::int64_t steps = 1;          ///< including the partial one
  std::int64_t partial_batch = 0;  ///< batch per GPU of the last step, 0 = there is no partial step
};
EpochShape epoch_shape(const DataSet& data, std::int64_t batch_per_gpu, int accumulation, int gpus);

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
