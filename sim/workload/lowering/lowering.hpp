// What a framework makes of a network's operators before they reach the GPU: as they are, taken apart, or
// fused.
#pragma once

#include "sim/workload/framework.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// eager and cuda_graphs: the operators as they are. graph: layer normalization, GELU and dropout, one kernel
/// each in PyTorch, are built from element-wise primitives by TensorFlow's layers, each of which reads and
/// writes memory. compiled: chains of element-wise operators become one kernel. FLOPs, parameters and the
/// order of gradients do not change. Counts and formula: docs/models/lowering.md.
ExpandedModel lower(const ExpandedModel& model, const Framework& framework);

/// Whether lower() changes anything.
bool is_lowered(const Framework& framework);

/// The graph executor's view: see lower().
void take_apart(Operator& op);

/// An element-wise operator that directly follows (in issue order) another one, a normalization or a softmax
/// joins that kernel: it no longer reads its first operand from memory nor writes a tensor that only the next
/// one reads, so 8 bytes an fp32 element less; one launch and one host call less. Backward the same. Matrix
/// products and convolutions stay library calls.
ExpandedModel fuse(const ExpandedModel& model);

}  // namespace foretrain
