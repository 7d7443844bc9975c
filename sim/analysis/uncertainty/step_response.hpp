// How the time of a step follows each uncertain input, at one number of GPUs.
#pragma once

#include <array>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/analysis/uncertainty/uncertain_inputs.hpp"

namespace foretrain {

/// How far inputs are moved, in standard deviations: the 5 % and 95 % quantiles of a normal distribution.
inline constexpr double kReach = 1.6448536269514722;

/// Logarithm of the step's ratio when one input alone is kReach standard deviations up (slower) or down;
/// between and beyond on straight lines. Of `unmodelled`, `up` is the mean of the exponential distribution as
/// a share of the step, and `down` the most it can be below 0.
struct StepResponse {
  std::array<double, kUncertainCount> up{}, down{};
  double at(Uncertain input, double z) const;
};

/// What the answers refer to: the job that was measured, or one GPU.
struct Reference {
  int gpus = 1, nodes = 1;
  double samples_per_gpu_s = 0;  ///< a larger job is no faster per GPU, but for noise; 0: unknown
};
Reference reference_at(const StepSimulator& simulator, int gpus, double step_s);

/// By derivatives alone: the critical path says which part of the step each input is. Costs nothing.
StepResponse linear_response(const StepSimulator& simulator, const DeviceModel& device,
                             const SimulatedStep& step, int gpus, const Spreads& spreads,
                             Reference reference);

/// What is hidden under something longer has no derivative, but shows when it gets slower: the upper sides of
/// kernels, host, input and links by one simulation each, where the spread is more than a few percent and the
/// step does not follow the input entirely.
StepResponse simulated_response(const StepSimulator& simulator, const DeviceModel& device,
                                const SimulatedStep& step, int gpus, const Spreads& spreads,
                                Reference reference);

/// The same for a model that was scaled to a measured step: what an input changes there, too, the scaling has
/// made up for. `there` is the response of the measured job; parts that were scaled are known already by
/// their spread. The measured run had its own noise.
StepResponse relative_to(const StepResponse& there, StepResponse here);

/// `device` with an input's logarithm moved by `by`. Requires kernels, host, input, node_links or network.
DeviceModel moved(DeviceModel device, Uncertain input, double by);

}  // namespace foretrain
