// Operators of TensorFlow's graph beside the network's own: reads of variables, moving averages, weight
// penalties and metrics.
#pragma once

#include "sim/base/units.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/lowering/optimizer.hpp"

namespace foretrain {

/// Operators off the main chain: `bare` ones have no kernel, the `kernels` small ones move `bytes` each.
struct GraphNodes {
  int bare = 0;
  int kernels = 0;
  Bytes bytes{};
};

/// Returns the nodes beside one forward operator: a read per variable. Batch normalization also updates two
/// moving averages by three kernels each. A backward operator has none.
GraphNodes nodes_beside(const Operator& op);

/// True for a layer's weights in a matrix product or a convolution, which an L2 regulariser of Keras covers.
/// Biases and normalization are not penalised.
bool is_penalised(const ExpandedModel& model, std::uint32_t parameter);
/// Returns the nodes of the L2 term of one weight. Forward: read, square, sum, scale. Backward: scale,
/// broadcast, two products and the sum of both gradients.
GraphNodes penalty_forward(const Parameter& parameter);
GraphNodes penalty_backward(const Parameter& parameter);

/// Returns the nodes of Keras' loss and accuracy, which are accumulated in variables in every step.
GraphNodes metric_nodes();

/// Counts the variables that each call of the graph is handed: parameters, optimizer slots, moving averages.
std::int64_t captured_variables(const ExpandedModel& model, const Optimizer& optimizer);

}  // namespace foretrain
