// Host time per framework call: a measured table for dispatch, Python and autograd, the library's own cost, then the launches.
#include "sim/workload/device/host_time.hpp"

#include <array>

namespace foretrain {
namespace {

/// Microseconds on the reference CPU without launches; backward includes the gradient accumulation nodes.
struct CallCost {
  double forward = 0, backward = 0, library_forward = 0, library_backward = 0;
};

/// In the order of HostCall. Sources: docs/models/host_time.md.
constexpr std::array<CallCost, 15> kCalls{{
    {4.55, 5.7, 10, 20},  // conv2d: two library calls backward
    {9.15, 7.1, 8, 8},    // batch_norm
    {4.2, 10.8, 5, 10},   // linear: two products backward
    {4.3, 6.6, 1, 1},     // layer_norm
    {1.9, 2.0, 1, 1},     // activation
    {2.1, 2.0, 1, 1},     // pooling
    {1.7, 1.0, 1, 1},     // add
    {2.4, 2.9, 1, 1},     // concat
    {2.4, 2.9, 1, 1},     // dropout
    {2.4, 2.9, 1, 1},     // embedding
    {8.3, 10.8, 5, 10},   // attention: one batched product with its views forward, two backward
    {1.9, 2.0, 1, 1},     // softmax
    {1.9, 2.0, 1, 1},     // loss
    {0.98, 0.98, 0, 0},   // view
    {2.4, 2.9, 1, 1},     // copy
}};
static_assert(kCalls.size() == static_cast<std::size_t>(HostCall::copy) + 1);

constexpr double kAutocastMicroseconds = 1.5;

}  // namespace

Time on_host(Time reference, const Host& host, const HostCalibration& calibration) {
  return seconds(to_seconds(reference) * host.slowdown * calibration.time_scale);
}

Time host_time(const Operator& op, const Host& host, const HostCalibration& calibration, Precision precision) {
  const CallCost& call = kCalls[static_cast<std::size_t>(op.call)];
  double cost = op.backward ? call.backward + call.library_backward : call.forward + call.library_forward;
  if (is_half(precision) && op.half_capable) cost += kAutocastMicroseconds;
  return on_host(microseconds(cost) + calibration.launch * op.kernels, host, calibration);
}

}  // namespace foretrain
