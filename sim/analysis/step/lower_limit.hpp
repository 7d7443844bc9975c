// Lower bounds of a step, known without a simulation; the search of `tune` discards cases by them.
#pragma once

#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// Seconds of a step on some number of GPUs that no strategy can hide.
struct StepLimit {
  /// Forward and backward kernels of one GPU, one after the other.
  double kernels_s = 0;
  /// Time between two batches from the narrowest part of the input pipeline.
  double input_s = 0;
  double step_s() const { return kernels_s > input_s ? kernels_s : input_s; }
};

/// Returns the limit of the representative rank, before the losses of many GPUs (docs/models/choices.md).
/// Zero where ranks are not alike, and for cut networks and programs.
StepLimit step_limit(const StepSimulator& simulator, int gpus, const DeviceModel& device);

}  // namespace foretrain
