// Scaling the device model to one measured step.
#pragma once

#include "sim/analysis/step_simulator.hpp"

namespace foretrain {

/// What the anchor did to the model.
struct Anchored {
  DeviceModel device;
  std::string scaled;  ///< "kernels", "host" or "kernels and host"
  double factor = 1;   ///< measured / predicted speed of what was scaled
};

/// Finds the factor on kernel times (on host times, when the host bounds the step at the anchor) with which the predicted step
/// at `anchor.gpus` equals the measured one, by bisection on the logarithm between 1/50 and 50. When one side alone cannot reach
/// it, both are scaled. Throws InputError when even that does not.
Anchored fit_anchor(const StepSimulator& simulator, const DeviceModel& device, const Anchor& anchor);

}  // namespace foretrain
