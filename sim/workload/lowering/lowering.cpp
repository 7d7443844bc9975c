// Fusion and decomposition of operators. Fused operators keep their place in the list. Those that joined a
// neighbour are dropped and leave their FLOPs and remaining bytes with it.
#include "sim/workload/lowering/lowering.hpp"

#include <algorithm>

namespace foretrain {
namespace {

/// Kernels of a composite and the bytes they move per element, relative to the single kernel's.
struct Composite {
  std::uint16_t kernels_forward, kernels_backward;
  double traffic_forward, traffic_backward;
};

// Counted over the primitives, 4 bytes an operand and element (docs/models/networks.md).
constexpr Composite kLayerNorm{9, 20, 4,
                               8};  // moments: 3 passes, squared difference, scale, shift and their gradients
constexpr Composite kGelu{8, 15, 9, 12};                 // pow, 5 products and sums, tanh, last product
constexpr Composite kDropout{4, 2, 33.0 / 9, 20.0 / 9};  // uniform numbers, comparison, cast, two products

const Composite* composite_of(const Operator& op) {
  if (op.call == HostCall::layer_norm) return &kLayerNorm;
  if (op.call == HostCall::dropout) return &kDropout;
  return op.call == HostCall::gelu ? &kGelu : nullptr;
}

/// True for an operator that element-wise work can join.
bool is_chain(const Operator& op) {
  return op.cls == OperatorClass::elementwise || op.cls == OperatorClass::normalization ||
         op.cls == OperatorClass::reduction;
}

/// Returns the bytes that an element-wise operator moves per fp32 element: operands, result and mask.
double bytes_per_element(const Operator& op) {
  if (op.call == HostCall::dropout) return 9;
  return op.call == HostCall::add || op.backward ? 12 : 8;
}

void join(Operator& into, const Operator& op) {
  into.flops += op.flops;
  const double kept = std::max(0.0, 1 - 8 / bytes_per_element(op));
  into.bytes += {op.bytes.fixed * kept, op.bytes.per_sample * kept};
}

/// True where an operator may join its predecessor: both pass in the same direction and compute in the same
/// width. Operators whose FLOPs bound their time too, those with a measured ratio to the model, and those
/// with a stated time are not joined.
bool can_join(const Operator& into, const Operator& op) {
  return op.cls == OperatorClass::elementwise && is_chain(into) && into.backward == op.backward &&
         into.half_capable == op.half_capable && into.stays_wide == op.stays_wide &&
         into.narrows_result == op.narrows_result && into.width == op.width && !into.is_roofline &&
         !op.is_roofline && into.over_model == 1 && op.over_model == 1 && !into.stated && !op.stated;
}

}  // namespace

void take_apart(Operator& op) {
  const Composite* composite = composite_of(op);
  if (composite == nullptr) return;
  const double traffic = op.backward ? composite->traffic_backward : composite->traffic_forward;
  op.bytes = {op.bytes.fixed * traffic, op.bytes.per_sample * traffic};
  op.kernels = std::max(op.kernels, op.backward ? composite->kernels_backward : composite->kernels_forward);
  op.half_capable =
      op.half_capable && composite == &kDropout;  // pow, mean and squared difference stay in 32 bit
}

ExpandedModel fuse(const ExpandedModel& model) {
  ExpandedModel fused = model;
  fused.forward.clear(), fused.backward.clear();
  for (const Operator& op : model.forward) {
    if (!fused.forward.empty() && can_join(fused.forward.back(), op))
      join(fused.forward.back(), op);
    else
      fused.forward.push_back(op);
  }
  for (const BackwardStep& step : model.backward) {
    // A step whose gradients are ready afterwards stays apart: the moment of a gradient must not move.
    if (!fused.backward.empty() && step.ready.empty() && can_join(fused.backward.back().op, step.op))
      join(fused.backward.back().op, step.op);
    else
      fused.backward.push_back(step);
  }
  return fused;
}

bool is_lowered(const Framework& framework) {
  return framework.execution == Execution::graph || framework.execution == Execution::compiled;
}

ExpandedModel lower(const ExpandedModel& model, const Framework& framework) {
  if (framework.execution == Execution::compiled) return fuse(model);
  ExpandedModel lowered = model;
  if (framework.execution != Execution::graph) return lowered;
  for (Operator& op : lowered.forward) take_apart(op);
  for (BackwardStep& step : lowered.backward) take_apart(step.op);
  return lowered;
}

}  // namespace foretrain
