// The response of a step to its inputs. A part with the share s of the step that becomes x times as long
// makes the step 1 + s (x - 1) times as long. The share is that on the critical path, which is the derivative
// of the step. Hidden parts have no share, so they are simulated with a larger input.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "sim/analysis/uncertainty/uncertainty.hpp"

namespace foretrain {

namespace {

/// Spreads below this, and shares within this of the whole step, are treated as linear.
constexpr double kSmall = 0.05;

/// Returns the shares of the critical path, limited to 0 to 1; a derivative may be negative.
StepShares shares_of(const SimulatedStep& step) {
  const auto share = [&](Account account) {
    return step.critical[static_cast<std::size_t>(account)] / step.step_s;
  };
  const auto part = [](double value) { return std::clamp(value, 0.0, 1.0); };
  return {part(share(Account::compute) + share(Account::optimizer) + share(Account::other)),
          part(share(Account::host)), part(share(Account::input_stall)),
          part(share(Account::exposed_communication))};
}

/// Returns the change of the step's logarithm when a part's logarithm changes.
double response(double share, double log_change) { return std::log1p(share * std::expm1(log_change)); }

/// Sets both sides of an input for its 5 % and 95 % quantiles.
void set(StepResponse& out, Uncertain input, double share, double spread) {
  out.up[index_of(input)] = response(share, kReach * spread);
  out.down[index_of(input)] = response(share, -kReach * spread);
}

double share_of(Uncertain input, const StepShares& shares) {
  if (input == Uncertain::kernels) return shares.kernels;
  if (input == Uncertain::host) return shares.host;
  return input == Uncertain::input ? shares.input : shares.communication;
}

double samples_per_gpu_s(const StepSimulator& simulator, int gpus, double step_s) {
  return static_cast<double>(simulator.global_batch(gpus)) / step_s / gpus;
}

bool has_input(const Scenario& scenario) { return scenario.workload.data.loader != LoaderKind::none; }

}  // namespace

/// An unknown reference counts as a loss of everything, the widest case.
double predicted_loss(const StepSimulator& simulator, int gpus, double step_s, const Reference& reference) {
  if (!(reference.samples_per_gpu_s > 0)) return 1;
  return 1 - samples_per_gpu_s(simulator, gpus, step_s) / reference.samples_per_gpu_s;
}

Reference reference_at(const StepSimulator& simulator, int gpus, double step_s) {
  return {gpus, simulator.placement(gpus).nodes, samples_per_gpu_s(simulator, gpus, step_s)};
}

StepResponse linear_response(const StepSimulator& simulator, const SimulatedStep& step, int gpus,
                             const Spreads& spreads) {
  StepResponse out;
  const StepShares shares = shares_of(step);
  const Uncertain links = simulator.placement(gpus).nodes > 1 ? Uncertain::network : Uncertain::node_links;
  for (const Uncertain input : {Uncertain::kernels, Uncertain::host, Uncertain::input, links})
    set(out, input, share_of(input, shares), spreads[index_of(input)]);
  return out;
}

StepResponse simulated_response(const StepSimulator& simulator, const DeviceModel& device,
                                const SimulatedStep& step, int gpus, const Spreads& spreads) {
  StepResponse out = linear_response(simulator, step, gpus, spreads);
  const StepShares shares = shares_of(step);
  const Placement ranks = simulator.placement(gpus);
  // The upper side takes the larger of the linear and the simulated response. Inputs that are absent, well
  // known or the whole step are skipped.
  const auto raise = [&](Uncertain input, bool is_there) {
    const double spread = spreads[index_of(input)];
    if (!is_there || spread < kSmall || share_of(input, shares) > 1 - kSmall) return;
    const double raised_s = simulator.step_s(gpus, moved(device, input, kReach * spread));
    double& up = out.up[index_of(input)];
    up = std::max(up, std::log(raised_s / step.step_s));
  };
  raise(Uncertain::kernels, true);
  raise(Uncertain::host, true);
  raise(Uncertain::input, has_input(simulator.scenario()));
  raise(ranks.nodes > 1 ? Uncertain::network : Uncertain::node_links, ranks.size() > 1);
  return out;
}

StepResponse relative_to(const StepResponse& there, StepResponse here) {
  for (std::size_t i = 0; i < kUncertainCount; ++i) here.up[i] -= there.up[i], here.down[i] -= there.down[i];
  return here;
}

DeviceModel moved(DeviceModel device, Uncertain input, double by) {
  const double factor = std::exp(by);
  if (input == Uncertain::kernels) device.kernel.time_scale *= factor;
  if (input == Uncertain::host) device.host.time_scale *= factor;
  if (input == Uncertain::input) device.input_time_scale *= factor;
  if (input == Uncertain::node_links || input == Uncertain::network)
    device.communication_time_scale *= factor;
  assert(input <= Uncertain::network);
  return device;
}

}  // namespace foretrain
