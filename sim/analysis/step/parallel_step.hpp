// A step of several degrees as one of the numbers of GPUs of a prediction.
#pragma once

#include "sim/analysis/step/prediction_point.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/strategy/parallel/large_step.hpp"

namespace foretrain {

/// Data sheet's, of the tensor cores that linear layers' products run on.
FlopRate product_peak(const Gpu& gpu, KernelPrecision precision);

/// Accounts of the busiest stage; the pipeline's bubble is `other`.
SimulatedStep as_simulated(const LargeStep& step, const NodeSpec& node, Reading reading);

/// Of the fullest stage.
MemoryUse memory_of(const LargeModelRun& job);
/// The largest micro-batch with which the fullest stage of the job on so many GPUs needs no more; 0: none.
/// `asked`: as the scenario has it, so that a global batch which it leaves open goes with the micro-batch.
std::int64_t largest_micro_batch(const LargeModelRun& asked, int gpus, Bytes capacity);

/// What people compare large models by: FLOPs are 3 x forward with the causal half of attention
/// (Megatron-LM's formula), recomputation not counted.
LargeModelPoint large_point(const LargeModelRun& job, double step_s, const Gpu& gpu);
/// With what stages of a cut network wait for and hold.
LargeModelPoint large_point(const LargeModelRun& job, const LargeStep& step, const Gpu& gpu);

}  // namespace foretrain
