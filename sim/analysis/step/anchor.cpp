// Calibration to a measured step. The predicted step grows monotonically with the factor on any of its parts,
// so a safeguarded root search on the logarithm finds the factor. The first guess is the plain ratio of
// measured to predicted time, which is exact where the step is proportional to the scaled part.
#include "sim/analysis/step/anchor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/device/arithmetic.hpp"

namespace foretrain {

namespace {

/// Largest factor up or down that the search tries.
constexpr double kLargestFactor = 50;
/// Tolerance of the logarithm of predicted over measured time, and narrowest bracket of the search.
constexpr double kTolerance = 1e-6;
/// A factor beyond this, up or down, leads to a warning.
constexpr double kPlausibleFactor = 3;
/// Factor by which each part is raised to see how strongly the step follows it.
constexpr double kProbe = 1.1;

/// Returns the model with the times of one part, or of kernels and host together, multiplied by `factor`.
DeviceModel scaled(DeviceModel device, ScaledPart part, double factor) {
  const bool both = part == ScaledPart::kernels_and_host;
  if (both || part == ScaledPart::kernels) device.kernel.time_scale *= factor;
  if (both || part == ScaledPart::host) device.host.time_scale *= factor;
  if (part == ScaledPart::input) device.input_time_scale *= factor;
  return device;
}

/// Undoes the scenario's what-if speeds (kernel_speed, link_speed): the measurement was made on the cluster
/// as it is, not on the hypothetical faster one.
DeviceModel as_measured(DeviceModel device, const ClusterSpec& cluster) {
  device.kernel.time_scale *= cluster.kernel_speed;
  device.communication_time_scale *= cluster.link_speed;
  return device;
}

struct Solution {
  double factor = 1;
  SimulatedStep step;
};

/// Solves predicted(factor) = measured by steps of slope one on log-log axes, safeguarded by bisection.
/// `plain` is the step at factor 1, which the caller has simulated already. Returns nothing when the bracket
/// closes without a solution.
std::optional<Solution> find_factor(const StepSimulator& simulator, const DeviceModel& device,
                                    const Anchor& anchor, ScaledPart part, const SimulatedStep& plain) {
  SimulatedStep step = plain;
  const auto error = [&] { return std::log(step.step_s / anchor.step_s); };
  double low = -std::log(kLargestFactor), high = std::log(kLargestFactor);
  double at = 0, miss = error();
  for (int i = 0; i < 60 && std::abs(miss) > kTolerance; ++i) {
    // The predicted step is too long (miss > 0): the root lies below; otherwise it lies above.
    (miss > 0 ? high : low) = at;
    const double newton = at - miss;
    // A slope of one assumes that the step is proportional to the factor. After eight tries, or outside the
    // bracket, bisection takes over, which always converges.
    at = newton > low && newton < high && i < 8 ? newton : (low + high) / 2;
    if (high - low < kTolerance) return std::nullopt;
    step = simulator.simulate(anchor.gpus, scaled(device, part, std::exp(at)), Reading::accounts);
    miss = error();
  }
  if (std::abs(miss) > kTolerance) return std::nullopt;
  return Solution{std::exp(at), std::move(step)};
}

/// Returns the elasticity of the step with respect to kernels, host and input, by ScaledPart: 1 means that
/// the step grows in proportion to that part, 0 that the part is hidden behind others.
std::array<double, 3> anchor_shares_of(const StepSimulator& simulator, const DeviceModel& device, int gpus,
                                       double plain_s) {
  std::array<double, 3> shares{};
  for (const ScaledPart part : {ScaledPart::kernels, ScaledPart::host, ScaledPart::input}) {
    const double raised = simulator.step_s(gpus, scaled(device, part, kProbe));
    shares[static_cast<std::size_t>(part)] = std::max(0.0, (raised / plain_s - 1) / (kProbe - 1));
  }
  return shares;
}

/// Translates measured.scales of the scenario into the part to scale.
ScaledPart requested_part(AnchorSide side) {
  if (side == AnchorSide::host) return ScaledPart::host;
  return side == AnchorSide::input ? ScaledPart::input : ScaledPart::kernels;
}

/// Returns the time of the step's matrix products at the peak rates of the units they run on, divided by the
/// measured step.
double implied_efficiency(const Scenario& scenario, std::int64_t batch, double step_s) {
  const Workload& work = scenario.workload;
  const auto at_peak = [&](const Operator& op) {
    const FlopRate peak = peak_rate(op, first_node(scenario).gpu, work.precision, work.framework);
    return op.product_count > 0 && peak.per_second > 0
               ? op.flops.at(static_cast<double>(batch)) / peak.per_second
               : 0;
  };
  double seconds = 0;
  for (const Operator& op : work.model->forward) seconds += at_peak(op);
  for (const BackwardStep& step : work.model->backward) seconds += at_peak(step.op);
  return seconds * scenario.knobs.accumulation / step_s;
}

}  // namespace

namespace {

/// Calibrates on the job that was measured (`anchor.job`) and applies the factor to the device model of the
/// scenario's own job. The simulated step belongs to the other job and is dropped.
Anchored fit_on_measured_job(const DeviceModel& unscaled, Anchor anchor) {
  const std::shared_ptr<const Scenario> job = std::move(anchor.job);
  anchor.job.reset();
  Anchored out = fit_anchor(StepSimulator(*job, anchor.gpus), default_device_model(*job), anchor);
  out.device = scaled(unscaled, out.scaled, out.factor);
  out.step.reset();
  return out;
}

}  // namespace

Anchored fit_anchor(const StepSimulator& simulator, const DeviceModel& unscaled, const Anchor& anchor) {
  if (anchor.job) return fit_on_measured_job(unscaled, anchor);
  const ClusterSpec& cluster = simulator.scenario().cluster;
  DeviceModel device = as_measured(unscaled, cluster);
  if (anchor.reused_batch) device.input_time_scale = 0;
  const SimulatedStep plain = simulator.simulate(anchor.gpus, device, Reading::accounts);
  // The part that the step follows most is tried first. Kernels and host together are the fallback for steps
  // that neither can explain alone.
  const std::array<double, 3> shares = anchor_shares_of(simulator, device, anchor.gpus, plain.step_s);
  const auto most = static_cast<ScaledPart>(std::max_element(shares.begin(), shares.end()) - shares.begin());
  std::vector<ScaledPart> parts{most, ScaledPart::kernels_and_host};
  if (anchor.scales) parts = {requested_part(*anchor.scales)};
  for (const ScaledPart part : parts) {
    auto found = find_factor(simulator, device, anchor, part, plain);
    if (!found) continue;
    std::string why =
        fmt::format("the predicted step follows kernels to {:.0f} %, host {:.0f} %, input {:.0f} %",
                    100 * shares[0], 100 * shares[1], 100 * shares[2]);
    if (anchor.scales) why += "; asked for by measured.scales";
    if (anchor.reused_batch) why += "; measured on one batch again and again, without the input pipeline";
    Anchored out{scaled(unscaled, part, found->factor), part, found->factor, std::move(why), {}, 0};
    // The found step may be reused only if it was simulated for the scenario exactly as it stands.
    if (!anchor.reused_batch && cluster.kernel_speed == 1 && cluster.link_speed == 1)
      out.step = std::move(found->step);
    out.efficiency =
        implied_efficiency(simulator.scenario(), simulator.batch_per_gpu(anchor.gpus), anchor.step_s);
    return out;
  }
  throw InputError(fmt::format("the measured step of {} on {} cannot be reached: the model says {}",
                               to_string(seconds(anchor.step_s)), counted(anchor.gpus, "GPU"),
                               to_string(seconds(plain.step_s))),
                   anchor.scales ? "leave measured.scales out, or check the unit and the batch size"
                                 : "check the unit, the batch size and the input pipeline");
}

std::string_view name_of(ScaledPart part) {
  static constexpr std::array<std::string_view, 4> kNames{"kernels", "host", "input", "kernels and host"};
  return kNames[static_cast<std::size_t>(part)];
}

std::string scaling_text(const Anchored& anchored) {
  return fmt::format("{} x {:.3f}", name_of(anchored.scaled), anchored.factor);
}

bool is_plausible(const Anchored& anchored) {
  return anchored.efficiency <= 1 && anchored.factor >= 1 / kPlausibleFactor &&
         anchored.factor <= kPlausibleFactor;
}

std::vector<std::string> warnings_about(const Anchored& anchored) {
  std::vector<std::string> doubts;
  if (anchored.efficiency > 1) {
    doubts.push_back(fmt::format(
        "the anchor implies {:.0f} % of the GPU's peak rate: check precision, batch size and the unit",
        100 * anchored.efficiency));
  }
  if (anchored.factor < 1 / kPlausibleFactor || anchored.factor > kPlausibleFactor) {
    doubts.push_back(
        fmt::format("the anchor scales {} by {:.2f}: check that the measured run did what this scenario says",
                    name_of(anchored.scaled), anchored.factor));
  }
  if (anchored.scaled == ScaledPart::input) {
    doubts.emplace_back(
        "the step that was measured waits for its input: the anchor says nothing of the GPU; measured.scales "
        "= \"compute\" overrides this");
  }
  return doubts;
}

}  // namespace foretrain
