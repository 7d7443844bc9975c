// Operators of layers that a script runs step by step, such as a recurrence: the same work in many calls.
#include <algorithm>

#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/tape/tape.hpp"

namespace foretrain {
namespace {

/// Rounds down and saturates at the largest 16-bit number, which fields of Operator hold.
std::uint16_t count_in_16_bits(double count) { return static_cast<std::uint16_t>(std::min(count, 65'535.0)); }

/// Returns the size that one step has a part of: the rows or, where the batch multiplies the count, the
/// dimension that is as long as the loop.
double& looped_size(Product& product, double steps) {
  if (product.grows == Product::Grows::rows) return product.m;
  if (product.grows == Product::Grows::depth) return product.k;
  return product.m >= steps ? product.m : product.k;
}

}  // namespace

Operator in_steps(Operator op, double steps) {
  // Fixed bytes, such as those of weights, are read again at every step; bytes per sample are only divided
  // among the calls.
  op.kernels = count_in_16_bits(op.kernels * steps), op.calls = count_in_16_bits(op.calls * steps);
  op.flops.fixed *= steps, op.bytes.fixed *= steps;
  for (Product& product : op.products) {
    looped_size(product, steps) /= steps, product.serial *= steps, product.bytes.fixed *= steps;
  }
  return op;
}

Operator sum_over_steps(double elements, double steps) {
  const double sums = steps - 1;
  Operator op = make_operator(OperatorClass::elementwise, HostCall::add, {sums * elements, 0},
                              {12 * sums * elements, 0});
  op.kernels = op.calls = count_in_16_bits(sums);
  return op;
}

}  // namespace foretrain
