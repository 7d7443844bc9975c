// One-at-a-time propagation: three more simulations per point.
#include "sim/analysis/uncertainty.hpp"

#include <cmath>

#include "sim/base/random.hpp"

namespace foretrain {

Spreads spreads_of(const Scenario& scenario) {
  Spreads spreads;
  if (scenario.anchor) spreads.kernels = spreads.run_to_run;
  return spreads;
}

Interval step_interval(const StepSimulator& simulator, int gpus, const DeviceModel& device, double step_s, const Spreads& spreads) {
  const auto change = [&](const DeviceModel& changed) { return simulator.simulate(gpus, changed).step_s / step_s - 1; };
  DeviceModel kernels = device, host = device, links = device;
  kernels.kernel.time_scale *= 1 + spreads.kernels;
  host.host.time_scale *= 1 + spreads.host;
  links.communication_scale *= 1 + spreads.communication;
  const double by_links = gpus > 1 ? change(links) : 0;
  const double sigma = std::hypot(std::hypot(change(kernels), change(host)), std::hypot(by_links, spreads.run_to_run));
  Interval interval;
  const double width = sigma * normal_quantile(0.5 + interval.level / 2);
  interval.low_s = step_s / (1 + width);
  interval.high_s = step_s * (1 + width);
  return interval;
}

}  // namespace foretrain
