// What TensorFlow's graph holds beside the network's own operators: reads of variables, moving averages,
// weight penalties, metrics.
#pragma once

#include "sim/base/units.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/lowering/optimizer.hpp"

namespace foretrain {

/// Operators off the main chain: `bare` ones without a kernel, and `kernels` small ones that move `bytes`
/// each.
struct GraphNodes {
  int bare = 0;
  int kernels = 0;
  Bytes bytes{};
};

/// Beside one operator forward: a read per variable; batch normalization also updates two moving averages by
/// three kernels each.
GraphNodes nodes_beside(const Operator& op);

/// A layer's weights in a matrix product or a convolution, which an L2 regulariser of Keras covers; not
/// biases, not normalization.
bool is_penalised(const ExpandedModel& model, std::uint32_t parameter);
/// The L2 term of one weight: read, square, sum, scale; backward scale, broadcast, two products and the sum
/// of both gradients.
GraphNodes penalty_forward(const Parameter& parameter);
GraphNodes penalty_backward(const Parameter& parameter);

/// Keras' loss and accuracy, accumulated in variables in every step.
GraphNodes metric_nodes();

/// Variables that each call of the graph is handed: parameters, optimizer slots, moving averages.
std::int64_t captured_variables(const ExpandedModel& model, const Optimizer& optimizer);

}  // namespace foretrain
