// The calibration of a device model to one measured step of the user's training.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// The part of the device model that a measured step scales.
enum class ScaledPart : std::uint8_t { kernels, host, input, kernels_and_host };
/// Returns "kernels", "host", "input" or "kernels and host".
std::string_view name_of(ScaledPart part);

/// A device model after calibration, with the factor and the reason for the choice of the scaled part.
struct Anchored {
  DeviceModel device;
  ScaledPart scaled = ScaledPart::kernels;
  /// Measured over predicted time of the scaled part, between 1/50 and 50.
  double factor = 1;
  /// Strength with which the predicted step follows kernels, host and input, in words.
  std::string why;
  /// The step of the calibrated model on the anchor's GPUs, read by accounts, which saves a simulation later.
  /// Absent where the measured step had a machine, a job or an input other than the scenario's.
  std::optional<SimulatedStep> step{};
  /// Share of the measured step that its matrix products would take at the GPU's peak rate; 0 without
  /// products. A share above 1 is impossible and leads to a warning.
  double efficiency = 0;
};

/// Finds the factor on kernel times, host times or the input pipeline with which the predicted step at
/// `anchor.gpus` equals the measured one. The search is a false position on the logarithm, safeguarded by
/// bisection, between 1/50 and 50.
///
/// The scaled part is the one that the anchor states, or else the one that the predicted step follows most.
/// If that part cannot reach the measurement and the anchor states none, kernels and host are scaled
/// together. Throws InputError when that fails, too.
///
/// The measured job is the simulator's own, or `anchor.job` where the anchor names another one.
Anchored fit_anchor(const StepSimulator& simulator, const DeviceModel& device, const Anchor& anchor);

/// Returns the scaling as reports show it: "kernels x 1.234".
std::string scaling_text(const Anchored& anchored);

/// Returns true if the GPU would run within its peak rate and the factor lies between 1/3 and 3.
bool is_plausible(const Anchored& anchored);

/// Returns one sentence for each implausible fact about the calibration; empty if all is plausible.
std::vector<std::string> warnings_about(const Anchored& anchored);

}  // namespace foretrain
