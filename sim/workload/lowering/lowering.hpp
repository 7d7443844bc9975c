// Lowering: what a framework makes of a network's operators before they reach the GPU. They stay as they are,
// are taken apart, or are fused.
#pragma once

#include "sim/workload/framework.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// Returns the operators as the framework's execution mode runs them. FLOPs, parameters and the order of
/// gradients do not change. Counts and formula: docs/models/networks.md.
/// - eager and cuda_graphs: unchanged.
/// - graph: layer normalization, GELU and dropout are one kernel each in PyTorch. TensorFlow's layers build
///   them from element-wise primitives, each of which reads and writes memory.
/// - compiled: chains of element-wise operators become one kernel.
ExpandedModel lower(const ExpandedModel& model, const Framework& framework);

/// True where lower() changes anything.
bool is_lowered(const Framework& framework);

/// Replaces a single kernel by the primitives of a graph executor: see lower().
void take_apart(Operator& op);

/// Returns the network with chains of element-wise operators fused. Such an operator joins the kernel that
/// directly precedes it in issue order: another element-wise one, a normalization or a softmax. It then no
/// longer reads its first operand from memory, nor writes a tensor that only the next one reads: 8 bytes an
/// fp32 element less. One launch and one host call are saved too. Backward is fused in the same way. Matrix
/// products and convolutions stay library calls. Linear in the number of operators.
ExpandedModel fuse(const ExpandedModel& model);

}  // namespace foretrain
