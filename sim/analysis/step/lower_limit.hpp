// What no step can be shorter than, known without a simulation.
#pragma once

#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// Seconds of a step on so many GPUs that no strategy can hide.
struct StepLimit {
  double kernels_s = 0;  ///< forward and backward of one GPU, one kernel after the other
  double input_s = 0;    ///< between batches from the narrowest part of the input pipeline
  double step_s() const { return kernels_s > input_s ? kernels_s : input_s; }
};

/// Of the representative rank, before the losses of many GPUs (docs/models/tune.md). Zero where ranks are not
/// alike and with [parallel].
StepLimit step_limit(const StepSimulator& simulator, int gpus, const DeviceModel& device);

}  // namespace foretrain
