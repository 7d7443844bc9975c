// Counts of graph nodes for Keras layers of TensorFlow 2, after the graph optimizer has folded shapes and
// constants (docs/models/host.md).
#include "sim/workload/lowering/graph_nodes.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// Returns the bytes beside a normalization. An average is read with its new value and written: 12 bytes a
/// channel, plus the count of batches. Without averages a vector is read.
Bytes bytes_beside_norm(const Operator& op) {
  return {op.keeps_averages ? 12 * op.channels + 8 : 4 * op.channels};
}

bool multiplies_weights(const Operator& op) {
  return op.call == HostCall::conv2d || op.call == HostCall::linear || op.call == HostCall::recurrent;
}

}  // namespace

GraphNodes nodes_beside(const Operator& op) {
  if (op.backward) return {};
  switch (op.call) {
    case HostCall::batch_norm:
      return {4, 6, bytes_beside_norm(op)};
    case HostCall::linear:
    case HostCall::layer_norm:
      return {2, 0, {}};
    case HostCall::recurrent:
      return {3, 0, {}};
    case HostCall::conv2d:
    case HostCall::embedding:
      return {1, 0, {}};
    default:
      return {};
  }
}

bool is_penalised(const ExpandedModel& model, std::uint32_t parameter) {
  const Parameter& candidate = model.parameters[parameter];
  if (!candidate.name.ends_with("weight")) return false;
  return std::any_of(model.forward.begin(), model.forward.end(), [&](const Operator& op) {
    return op.layer == candidate.layer && multiplies_weights(op);
  });
}

GraphNodes penalty_forward(const Parameter& parameter) { return {1, 3, Bytes{4 * parameter.elements}}; }

GraphNodes penalty_backward(const Parameter& parameter) { return {1, 5, Bytes{7 * parameter.elements}}; }

GraphNodes metric_nodes() { return {18, 12, Bytes{64}}; }

std::int64_t captured_variables(const ExpandedModel& model, const Optimizer& optimizer) {
  const auto parameters = static_cast<std::int64_t>(model.parameters.size());
  const auto averages = std::count_if(model.buffers.begin(), model.buffers.end(),
                                      // Moving averages are the fp32 buffers; counters of batches are int64
                                      // and no variables of the graph.
                                      [](const Buffer& b) { return b.element_bytes == 4; });
  return parameters * (1 + state_bytes_per_element(optimizer) / 4) + averages;
}

}  // namespace foretrain
