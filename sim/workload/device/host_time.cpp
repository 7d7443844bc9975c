// Host time per framework call: a measured table for dispatch, Python and autograd, the library's own cost,
// then the launches.
//
// The execution mode decides how much of that table is paid. Python issues calls one by one, a graph executor
// or generated code issues them without Python, and CUDA graphs issue none. Host times were measured on one
// CPU, the reference; other CPUs scale them by host.slowdown.
#include "sim/workload/device/host_time.hpp"

#include <algorithm>
#include <array>

#include "sim/workload/framework_profile.hpp"

namespace foretrain {
namespace {

/// Microseconds of one call on the reference CPU, without launches. Backward includes the gradient
/// accumulation nodes.
struct CallCost {
  double forward = 0, backward = 0, library_forward = 0, library_backward = 0;
};

/// The rows are in the order of HostCall. Sources: docs/models/host.md.
constexpr std::array<CallCost, 18> kCalls{{
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
    {8.3, 10.8, 5, 10},   // fused_attention: the views and one library call each way
    {4.2, 5.4, 10, 20},   // recurrent: one library call a layer, descriptors each time
    {4.9, 7.9, 1, 1},     // gelu
}};
static_assert(kCalls.size() == static_cast<std::size_t>(HostCall::gelu) + 1);

// Time of autocast's check and dispatch per call.
constexpr double kAutocastMicroseconds = 1.5;

struct Cost {
  Time framework{}, library{};
};

Cost cost_of(const Operator& op, Precision precision) {
  const CallCost& call = kCalls[static_cast<std::size_t>(op.call)];
  const bool is_autocast = is_half(precision) && op.half_capable && op.width != ElementWidth::full;
  const double autocast = is_autocast ? kAutocastMicroseconds : 0;
  return {microseconds(((op.backward ? call.backward : call.forward) + autocast) * op.calls),
          microseconds((op.backward ? call.library_backward : call.library_forward) * op.calls)};
}

Time scaled(Time time, double factor) { return seconds(to_seconds(time) * factor); }

/// Returns the time under eager execution: call_scale covers dispatch and library, launches are added.
Time eager_time(const Operator& op, Precision precision, const HostCalibration& calibration,
                const Framework& framework) {
  const Cost cost = cost_of(op, precision);
  return scaled(scaled(cost.framework, profile_of(framework).eager_scale) + cost.library,
                calibration.call_scale) +
         calibration.launch * op.kernels;
}

/// Returns the time of compiled code. Library calls stay; generated Python, or the executable's own loop,
/// wraps them.
Time compiled_time(const Operator& op, Precision precision, const HostCalibration& calibration,
                   const Framework& framework) {
  const bool library = op.product_count > 0;
  const bool python = !profile_of(framework).compiles_whole_steps;
  const Time wrapper = python ? calibration.compiled_kernel : calibration.bare_node;
  const double share = python ? calibration.call_scale : calibration.cached_library;
  return (library ? scaled(cost_of(op, precision).library, share) : Time{}) +
         (wrapper + calibration.launch) * op.kernels;
}

/// Returns the time in a graph: each kernel is a node of the executor, and a view is a node without kernel.
Time graph_time(const Operator& op, Precision precision, const HostCalibration& calibration) {
  if (op.call == HostCall::view) return calibration.bare_node;
  const int nodes = std::max<int>(op.kernels, 1);
  return scaled(cost_of(op, precision).library, calibration.cached_library) +
         (calibration.node + calibration.launch) * nodes;
}

}  // namespace

Time on_host(Time reference, const Host& host, const HostCalibration& calibration) {
  return seconds(to_seconds(reference) * host.slowdown * calibration.time_scale);
}

Time host_reference(const Operator& op, const HostCalibration& calibration, Precision precision,
                    const Framework& framework) {
  // A measured time holds for the execution it was measured in.
  if (op.stated_host && framework.execution == Execution::eager) return *op.stated_host;
  switch (framework.execution) {
    case Execution::eager:
      return eager_time(op, precision, calibration, framework);
    case Execution::graph:
      return graph_time(op, precision, calibration);
    case Execution::compiled:
      return compiled_time(op, precision, calibration, framework);
    case Execution::cuda_graphs:
      break;
  }
  return Time{};
}

Time host_time(const Operator& op, const Host& host, const HostCalibration& calibration, Precision precision,
               const Framework& framework) {
  return on_host(host_reference(op, calibration, precision, framework), host, calibration);
}

}  // namespace foretrain
