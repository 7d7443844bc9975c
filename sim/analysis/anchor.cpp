// The predicted step grows with the factor, so bisection finds it; the first guess is the plain ratio.
#include "sim/analysis/anchor.hpp"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"

namespace foretrain {

namespace {

enum class Side { kernels, host, both };
constexpr double kLargestFactor = 50;
constexpr double kTolerance = 1e-6;

std::string_view name_of_side(Side side) {
  if (side == Side::kernels) return "kernels";
  return side == Side::host ? "host" : "kernels and host";
}

DeviceModel scaled(DeviceModel device, Side side, double factor) {
  if (side != Side::host) device.kernel.time_scale *= factor;
  if (side != Side::kernels) device.host.time_scale *= factor;
  return device;
}

/// Solves predicted(factor) = measured; false position on log-log, safeguarded by bisection.
std::optional<double> find_factor(const StepSimulator& simulator, const DeviceModel& device, const Anchor& anchor, Side side) {
  const auto error = [&](double log_factor) {
    return std::log(simulator.simulate(anchor.gpus, scaled(device, side, std::exp(log_factor))).step_s / anchor.step_s);
  };
  double low = -std::log(kLargestFactor), high = std::log(kLargestFactor);
  double at = 0, miss = error(0);
  for (int i = 0; i < 60 && std::abs(miss) > kTolerance; ++i) {
    (miss > 0 ? high : low) = at;
    const double newton = at - miss;
    at = newton > low && newton < high && i < 8 ? newton : (low + high) / 2;
    if (high - low < kTolerance) return std::nullopt;
    miss = error(at);
  }
  return std::abs(miss) <= kTolerance ? std::optional(std::exp(at)) : std::nullopt;
}

/// Whether the step follows the host's times more than the kernels': each is raised by a tenth alone.
bool host_bound(const StepSimulator& simulator, const DeviceModel& device, int gpus) {
  const auto step_with = [&](Side side) { return simulator.simulate(gpus, scaled(device, side, 1.1)).step_s; };
  return step_with(Side::host) > step_with(Side::kernels);
}

}  // namespace

Anchored fit_anchor(const StepSimulator& simulator, const DeviceModel& device, const Anchor& anchor) {
  const SimulatedStep plain = simulator.simulate(anchor.gpus, device);
  const Side first = host_bound(simulator, device, anchor.gpus) ? Side::host : Side::kernels;
  for (const Side side : {first, Side::both}) {
    if (const auto factor = find_factor(simulator, device, anchor, side))
      return {scaled(device, side, *factor), std::string(name_of_side(side)), *factor};
  }
  throw InputError(
      fmt::format("the measured step of {} on {} GPU{} cannot be reached: the model says {}", to_string(seconds(anchor.step_s)),
                  anchor.gpus, anchor.gpus == 1 ? "" : "s", to_string(seconds(plain.step_s))),
      "check the unit, the batch size and the input pipeline");
}

}  // namespace foretrain
