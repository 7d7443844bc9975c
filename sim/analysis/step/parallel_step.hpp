// Conversion of a simulated step of [parallel] into the fields of a prediction.
#pragma once

#include "sim/analysis/step/prediction_point.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/strategy/parallel/large_step.hpp"

namespace foretrain {

/// Returns the data sheet's rate of the tensor cores that linear layers' products run on. A precision that
/// the GPU lacks falls back to bf16, then fp16.
FlopRate product_peak(const Gpu& gpu, KernelPrecision precision);

/// Returns the accounts of the busiest stage; the pipeline's bubble is Account::other.
SimulatedStep as_simulated(const LargeStep& step, const NodeSpec& node, Reading reading);

/// Returns the memory of the fullest stage.
MemoryUse memory_of(const LargeModelRun& job);
/// Returns the largest micro-batch with which the fullest stage of the job on `gpus` GPUs needs at most
/// `capacity`; 0 if none. `asked` is the layout as the scenario states it, so that a global batch which it
/// leaves open follows the micro-batch.
std::int64_t largest_micro_batch(const LargeModelRun& asked, int gpus, Bytes capacity);

/// Returns the figures by which large models are compared. FLOPs are 3 x forward with the causal half of
/// attention (Megatron-LM's formula); recomputation is not counted.
LargeModelPoint large_point(const LargeModelRun& job, double step_s, const Gpu& gpu);
/// Returns these figures with the waits and the memory of the stages of a cut network.
LargeModelPoint large_point(const LargeModelRun& job, const LargeStep& step, const Gpu& gpu);

}  // namespace foretrain
