// Scaling the device model to one measured step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// What of the model a measured step scales.
enum class ScaledPart : std::uint8_t { kernels, host, input, kernels_and_host };
/// "kernels", "host", "input", "kernels and host".
std::string_view name_of(ScaledPart part);

/// What the anchor did to the model.
struct Anchored {
  DeviceModel device;
  ScaledPart scaled = ScaledPart::kernels;
  double factor = 1;  ///< measured / predicted time of what was scaled
  std::string why;    ///< how the step follows each side
  /// The step it leads to on the anchor's GPUs, as far as the search came by it, read by accounts.
  std::optional<SimulatedStep> step{};
  /// Share of the measured step that its products would take at the GPU's peak; 0 = there are none.
  double efficiency = 0;
};

/// The job is the simulator's, or the one that the anchor names.
/// Finds the factor on kernel times, host times or the input pipeline with which the predicted step at
/// `anchor.gpus` equals the measured one, by bisection on the logarithm between 1/50 and 50. The side is the
/// anchor's, or else the one that the step there follows most. When it cannot reach the measurement and none
/// was asked for, kernels and host are scaled together. Throws InputError when even that does not.
Anchored fit_anchor(const StepSimulator& simulator, const DeviceModel& device, const Anchor& anchor);

/// "kernels x 1.234", as decisions say it.
std::string scaling_text(const Anchored& anchored);

/// Whether the GPU would run within its peak rate, and what was scaled changes by at most a factor of three.
bool is_plausible(const Anchored& anchored);

/// What is implausible about it, in sentences.
std::vector<std::string> warnings_about(const Anchored& anchored);

}  // namespace foretrain
