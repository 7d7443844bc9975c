// Fits how fast the recording host was, from calls whose host time on the reference CPU is known.
//
// The model has two unknowns: measured = slowdown * reference + per_op * (recorded operators). Both sides are
// divided by the measured time, so that each call counts by its relative error, and the normal equations of
// two unknowns are solved directly. Where they are nearly singular, or give impossible values, only the ratio
// of the sums is taken.
#include "sim/import/traces/recording_host.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "sim/workload/device/host_time.hpp"

namespace foretrain {

namespace {

/// A call that profiler and table both know.
struct KnownCall {
  // Name of the operator in forward, or begin of the node's name in backward.
  std::string_view name;
  HostCall call;
};

constexpr std::array kKnownCalls{
    KnownCall{"aten::convolution", HostCall::conv2d},
    KnownCall{"aten::conv2d", HostCall::conv2d},
    KnownCall{"ConvolutionBackward", HostCall::conv2d},
    KnownCall{"aten::batch_norm", HostCall::batch_norm},
    KnownCall{"aten::cudnn_batch_norm", HostCall::batch_norm},
    KnownCall{"aten::native_batch_norm", HostCall::batch_norm},
    KnownCall{"CudnnBatchNormBackward", HostCall::batch_norm},
    KnownCall{"NativeBatchNormBackward", HostCall::batch_norm},
    KnownCall{"aten::linear", HostCall::linear},
    KnownCall{"aten::addmm", HostCall::linear},
    KnownCall{"AddmmBackward", HostCall::linear},
    KnownCall{"aten::relu_", HostCall::activation},
    KnownCall{"aten::relu", HostCall::activation},
    KnownCall{"ReluBackward", HostCall::activation},
    KnownCall{"aten::gelu", HostCall::activation},
    KnownCall{"GeluBackward", HostCall::activation},
    KnownCall{"aten::native_layer_norm", HostCall::layer_norm},
    KnownCall{"NativeLayerNormBackward", HostCall::layer_norm},
    KnownCall{"aten::max_pool2d_with_indices", HostCall::pooling},
    KnownCall{"MaxPool2DWithIndicesBackward", HostCall::pooling},
    KnownCall{"aten::add", HostCall::add},
    KnownCall{"aten::add_", HostCall::add},
    KnownCall{"AddBackward", HostCall::add},
    KnownCall{"aten::embedding", HostCall::embedding},
    KnownCall{"aten::dropout", HostCall::dropout},
};

/// Returns the table's call for an operator; nothing where it has none. Nodes of backward have a number
/// behind their name.
std::optional<HostCall> known_call(const TracedOperator& op) {
  const std::string_view name = op.is_backward() ? std::string_view(op.node) : std::string_view(op.name);
  for (const KnownCall& row : kKnownCalls) {
    if (op.is_backward() ? name.starts_with(row.name) : name == row.name) return row.call;
  }
  return std::nullopt;
}

/// Sums of the least squares with two unknowns a and b; each call counts by its relative error.
struct Fit {
  double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
  double sum_reference = 0, sum_measured = 0;

  /// Adds a call; times in us, `ops` the number of recorded operators in it.
  void add(double reference_us, double ops, double measured_us) {
    if (measured_us <= 0 || reference_us <= 0) return;
    const double a = reference_us / measured_us, b = ops / measured_us;
    aa += a * a, ab += a * b, bb += b * b, ay += a, by += b;
    sum_reference += reference_us, sum_measured += measured_us;
  }
};

/// Adds all known calls of a step.
Fit fit_of(const TracedStep& step) {
  Fit fit;
  for (const TracedOperator& traced : step.operators) {
    const std::optional<HostCall> call = known_call(traced);
    if (!call) continue;
    Operator op;
    op.call = *call;
    op.backward = traced.is_backward();
    op.kernels = static_cast<std::uint16_t>(std::clamp(traced.kernels, 0, 60'000));
    const double reference = to_microseconds(host_reference(op, {}, Precision::fp32, {}));
    fit.add(reference, traced.ops, static_cast<double>(traced.host) * 1e-3);
  }
  return fit;
}

}  // namespace

RecordingHost recording_host(const TracedStep& step) {
  const Fit fit = fit_of(step);
  if (fit.sum_reference <= 0) return {};
  // Range of host.slowdown in a cluster file.
  constexpr double kSlowest = 20, kFastest = 0.2;
  const RecordingHost without_profiler{std::clamp(fit.sum_measured / fit.sum_reference, kFastest, kSlowest),
                                       0};
  // Calls with as many operators as reference time cannot tell the two unknowns apart.
  const double determinant = fit.aa * fit.bb - fit.ab * fit.ab;
  if (determinant < 1e-6 * fit.aa * fit.bb) return without_profiler;
  const double slowdown = (fit.ay * fit.bb - fit.by * fit.ab) / determinant;
  const double per_op = (fit.by * fit.aa - fit.ay * fit.ab) / determinant;
  if (per_op <= 0 || slowdown < kFastest) return without_profiler;
  return {std::min(slowdown, kSlowest), per_op};
}

}  // namespace foretrain
