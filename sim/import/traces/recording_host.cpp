// Calls of the table by the names that a profiler shows.
#include "sim/import/traces/recording_host.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "sim/workload/device/host_time.hpp"

namespace foretrain {

namespace {

struct KnownCall {
  std::string_view name;  ///< of the operator forward, or how the node's begins
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
    KnownCall{"aten::embedding", HostCall::embedding},
    KnownCall{"aten::dropout", HostCall::dropout},
};

std::optional<HostCall> known_call(const TracedOperator& op) {
  const std::string_view name = op.is_backward() ? std::string_view(op.node) : std::string_view(op.name);
  for (const KnownCall& row : kKnownCalls) {
    if (op.is_backward() ? name.starts_with(row.name) : name == row.name) return row.call;
  }
  return std::nullopt;
}

}  // namespace

double recording_slowdown(const TracedStep& step) {
  double measured = 0, reference = 0;
  for (const TracedOperator& traced : step.operators) {
    const std::optional<HostCall> call = known_call(traced);
    if (!call) continue;
    Operator op;
    op.call = *call;
    op.backward = traced.is_backward();
    op.kernels = static_cast<std::uint16_t>(std::clamp(traced.kernels, 0, 60'000));
    measured += static_cast<double>(traced.host) * 1e-9;
    reference += to_seconds(host_reference(op, {}, Precision::fp32, {}));
  }
  return reference > 0 ? std::max(measured / reference, 0.05) : 1;
}

}  // namespace foretrain
