// The time of an epoch and of a whole run, computed from the time of a step.
#pragma once

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

/// The steps of an epoch (EpochSteps, sim/scenario/job.hpp) as one GPU sees them. Without data.samples an
/// epoch is one step, which no report shows (known_figures.hpp).
struct EpochShape {
  /// Steps of an epoch, the partial one included; 0 where drop_last leaves none.
  std::int64_t steps = 1;
  /// Batch per GPU and micro-step of the last step; 0 where there is no partial step.
  std::int64_t partial_batch = 0;
};
/// Returns the shape of the scenario's epoch on this number of GPUs.
EpochShape epoch_shape(const Scenario& scenario, int gpus);
/// Returns the shape for steps whose samples are divided into `parts`: one for each micro-step of each GPU.
EpochShape epoch_shape(const EpochSteps& steps, std::int64_t parts);

/// Returns the seconds lost at each start of an epoch: worker start and the first batch
/// (docs/models/step.md). Zero without worker processes or without a data set.
double loader_restart_s(const Workload& workload, const NodeSpec& node);

/// Returns the seconds of one epoch from the steady step, the partial step and the restart of the loader.
double epoch_s(const EpochShape& shape, double step_s, double partial_step_s, double restart_s);

// Work of a run besides its training steps: start-up, loader restarts, validation and checkpoints.
// Work of a run besides its training steps: start-up, loader restarts, validation and checkpoints.

/// Returns the seconds of a run outside its training steps (docs/models/step.md). `restart_s` is the loader
/// restart of each training epoch. Validation passes are simulated.
RunOverhead run_overhead(const StepSimulator& simulator, const DeviceModel& device, int gpus,
                         double restart_s);

/// Seconds of start-up: imports, the CUDA context, the network's first weights, NCCL, and the extra time of
/// the first step over later ones.
struct Startup {
  double imports_s = 0, cuda_s = 0, weights_s = 0, nccl_s = 0, first_step_s = 0;
  double total_s() const { return imports_s + cuda_s + weights_s + nccl_s + first_step_s; }
};
/// Returns the start-up that is usual for the scenario's launcher and framework on this number of GPUs.
Startup usual_startup(const Scenario& scenario, int gpus);

/// Returns the bytes that a checkpoint writes: weights, frozen weights, buffers and the optimizer's state.
Bytes checkpoint_bytes(const Workload& workload);

}  // namespace foretrain
