// Rotary positions (RoPE), as layers of several kinds record them: x * cos + rotate_half(x) * sin.
//
// Forward has five operators: two products, a minus, a concatenation and a sum. Backward has two products, a
// minus, two halves written into zeros, and two sums. A fused kernel rotates in place, in one pass each way.
#include "sim/workload/layers/attention.hpp"

namespace foretrain {
namespace {

/// Returns `count` calls of one small kernel each, with FLOPs and bytes in all.
Operator small_passes(double flops, double bytes, int count) {
  Operator op = make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(flops),
                              per_sample(bytes), count);
  op.calls = static_cast<std::uint16_t>(count);
  return op;
}

}  // namespace

// FLOPs and bytes are counted by rotated elements; a cut and a join move all elements of the rows.
TensorId record_rotary(Tape& tape, TensorId rows, double turned) {
  const Shape shape = tape.at(rows).shape;
  const auto n = static_cast<double>(shape.elements());
  // A rotated part of each head is cut off before and joined again after: more copies in both directions.
  const bool is_part = turned < n;
  if (tape.trainability().tuning().fuses(FusedKernel::rope)) {
    const TensorId placed = tape.alias(shape, rows);
    const Operator in_place = small_passes(3.5 * turned, 8 * turned, 1);
    tape.forward(in_place);
    tape.node({backward_of(in_place)}, {rows}, placed);
    return placed;
  }
  const TensorId result = tape.result(shape, {rows}, false);
  tape.forward(small_passes(3.5 * turned, 40 * turned + (is_part ? 8 * n : 0), is_part ? 6 : 5));
  std::vector<BackwardStep> steps{backward_of(small_passes(4.5 * turned, 60 * turned, 9))};
  if (is_part) steps.push_back(backward_of(small_passes(3 * n, 28 * n, 5)));
  tape.node(std::move(steps), {rows}, result);
  return result;
}

}  // namespace foretrain
