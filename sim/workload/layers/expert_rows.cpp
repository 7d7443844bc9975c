// Operators of a mixture of experts: FLOPs and bytes of gathering, transforming, weighting and adding rows.
#include "sim/workload/layers/expert_rows.hpp"

#include <fmt/format.h>

#include "sim/workload/layers/linear.hpp"

namespace foretrain {
namespace {

/// Records silu, whose backward needs its input.
TensorId record_silu(Tape& tape, TensorId input) {
  const auto n = static_cast<double>(tape.at(input).shape.elements());
  const TensorId result = tape.result(tape.at(input).shape, {input}, false);
  tape.forward(script_pass(OperatorClass::elementwise, HostCall::activation, n, 8 * n));
  tape.save(input);
  tape.node({{script_pass(OperatorClass::elementwise, HostCall::activation, 8 * n, 12 * n), {}}}, {input},
            result);
  return result;
}

/// Records the product of the activated gate with the other branch; backward keeps both.
TensorId record_gate(Tape& tape, TensorId gate, TensorId up) {
  const auto n = static_cast<double>(tape.at(gate).shape.elements());
  const TensorId result = tape.result(tape.at(gate).shape, {gate, up}, false);
  tape.forward(script_pass(OperatorClass::elementwise, HostCall::add, n, 12 * n));
  tape.save(gate), tape.save(up);
  tape.node({{script_pass(OperatorClass::elementwise, HostCall::add, 2 * n, 24 * n, 2), {}}}, {gate, up},
            result);
  return result;
}

/// The work of `experts` products of rows / experts rows each, in one kernel.
struct GroupedProduct {
  double rows = 0, in = 0, out = 0, experts = 0;
  double flops() const { return 2 * rows * in * out; }
  double weights() const { return experts * in * out; }
  Amount moved() const { return {4 * weights(), 4 * rows * (in + out)}; }
  Product forward() const {
    return {rows / experts, out, in, experts, 1, Product::Grows::rows, 1, 1, moved()};
  }
  Product for_input() const {
    return {rows / experts, in, out, experts, 1, Product::Grows::rows, 1, 1, moved()};
  }
  Product for_weights() const {
    return {out, in, rows / experts, experts, 1, Product::Grows::depth, 1, 1, moved()};
  }
};

/// Records one grouped product with weights for all experts, and its gradients.
TensorId record_grouped(Tape& tape, TensorId input, std::int64_t out, std::int64_t experts,
                        std::string_view prefix) {
  const Shape in = tape.at(input).shape;
  const GroupedProduct work{static_cast<double>(in.rows()), static_cast<double>(in.width()),
                            static_cast<double>(out), static_cast<double>(experts)};
  const std::uint32_t weight = tape.parameter(fmt::format("{}weight", prefix), experts * in.width() * out);
  const TensorId result = tape.result(Shape::sequence(in.rows(), out), {input}, true);
  const auto products = [&](int count) {
    return make_operator(OperatorClass::gemm, HostCall::linear, per_sample(count * work.flops()),
                         {count * work.moved().fixed, count * work.moved().per_sample}, count);
  };
  tape.forward(products(1).with(work.forward()));
  tape.save(input);
  // Where the input needs no gradient, backward is the product for the weights alone.
  const bool further = tape.at(input).needs_gradient;
  Operator backward = products(further ? 2 : 1);
  if (further) backward.with(work.for_input());
  tape.node({{backward.with(work.for_weights()), {weight}}}, {input}, result);
  return result;
}

}  // namespace

Operator script_pass(OperatorClass cls, HostCall call, double flops, double bytes, int kernels) {
  return make_operator(cls, call, per_sample(flops), per_sample(bytes), kernels);
}

TensorId gather_rows(Tape& tape, TensorId input, std::int64_t rows) {
  const Shape in = tape.at(input).shape;
  const Shape made = Shape::sequence(rows, in.width());
  const auto part = static_cast<double>(made.elements()), whole = static_cast<double>(in.elements());
  const TensorId gathered = tape.result(made, {input}, false);
  // The kernels are the search for the rows' indices, and the copy.
  tape.forward(
      script_pass(OperatorClass::copy, HostCall::embedding, 0, 8 * part + 24 * static_cast<double>(rows), 2));
  tape.save(per_sample(16 * static_cast<double>(rows)));
  tape.node(
      {{script_pass(OperatorClass::embedding, HostCall::embedding, whole, 4 * whole + 12 * part, 2), {}}},
      {input}, gathered);
  return gathered;
}

// Forward picks the weights and multiplies. Backward has two products and the sum over the width.
TensorId record_weighting(Tape& tape, TensorId rows, TensorId weights) {
  const Shape shape = tape.at(rows).shape;
  const auto n = static_cast<double>(shape.elements());
  const TensorId result = tape.result(shape, {rows, weights}, false);
  tape.forward(script_pass(OperatorClass::elementwise, HostCall::add, n,
                           8 * n + 4 * static_cast<double>(shape.rows()), 2));
  tape.save(rows);
  tape.node({{script_pass(OperatorClass::elementwise, HostCall::add, 3 * n, 24 * n, 3), {}}}, {rows, weights},
            result);
  return result;
}

// The sum is overwritten, so it has no storage of its own; backward reads the rows' gradients out of it.
TensorId scatter_rows(Tape& tape, TensorId sum, TensorId rows) {
  const auto n = static_cast<double>(tape.at(rows).shape.elements());
  const TensorId result = tape.alias(tape.at(sum).shape, sum);
  tape.forward(script_pass(OperatorClass::embedding, HostCall::embedding, n, 12 * n));
  tape.node({{script_pass(OperatorClass::copy, HostCall::embedding, 0, 8 * n), {}}}, {sum, rows}, result);
  return result;
}

// The zeros need a gradient, so that the results added to them get one.
TensorId record_zeros(Tape& tape, const Shape& shape) {
  const TensorId zeros = tape.result(shape, {}, true);
  tape.forward(script_pass(OperatorClass::elementwise, HostCall::activation, 0,
                           4 * static_cast<double>(shape.elements())));
  tape.node({}, {}, zeros);
  return zeros;
}

// The order is that of the scripts: gate, activation, up, product, down.
TensorId record_perceptron(Tape& tape, const Perceptron& own, TensorId rows) {
  const std::int64_t width = tape.at(rows).shape.width();
  const auto linear = [&](TensorId from, std::int64_t out, std::string_view name) {
    return record_linear(tape, from, out, {LinearForm::Bias::none, fmt::format("{}{}.", own.prefix, name)});
  };
  TensorId inner = record_silu(tape, linear(rows, own.width, "gate"));
  if (own.gated) inner = record_gate(tape, inner, linear(rows, own.width, "up"));
  return linear(inner, width, "down");
}

TensorId record_grouped_perceptrons(Tape& tape, const Perceptron& own, std::int64_t experts, TensorId rows) {
  const std::int64_t width = tape.at(rows).shape.width();
  const auto grouped = [&](TensorId from, std::int64_t out, std::string_view name) {
    return record_grouped(tape, from, out, experts, fmt::format("{}{}.", own.prefix, name));
  };
  TensorId inner = record_silu(tape, grouped(rows, own.width, "gate"));
  if (own.gated) inner = record_gate(tape, inner, grouped(rows, own.width, "up"));
  return grouped(inner, width, "down");
}

// The gate is a product of one column and a sigmoid, whose result is kept.
TensorId record_row_gate(Tape& tape, TensorId input, TensorId rows, std::string_view prefix) {
  const TensorId logit = record_linear(tape, input, 1, {LinearForm::Bias::none, prefix});
  // The gate has one number a row.
  const Shape one = tape.at(logit).shape;
  const auto n = static_cast<double>(one.elements());
  const TensorId gate = tape.result(one, {logit}, false);
  tape.forward(script_pass(OperatorClass::elementwise, HostCall::activation, n, 8 * n));
  tape.save(gate);
  tape.node({{script_pass(OperatorClass::elementwise, HostCall::activation, n, 12 * n), {}}}, {logit}, gate);
  return record_weighting(tape, rows, gate);
}

}  // namespace foretrain
