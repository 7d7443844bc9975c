// When tensors live: small tapes whose peak can be counted by hand.
#include "sim/workload/tape/lifetimes.hpp"

#include "sim/workload/tape/tape.hpp"
#include "tests/support/catch.hpp"

namespace lifetimes_test {

using namespace foretrain;

namespace {

constexpr double kMiB = 1 << 20;

/// 4 MiB in fp32.
const Shape kShape = Shape::features(1 << 20);

Operator operator_of(OperatorClass cls, bool half_capable = true) {
  Operator op = make_operator(cls, HostCall::activation, {}, {});
  op.half_capable = half_capable;
  if (cls == OperatorClass::gemm) op.with({1, 1, 1, 1, 1, Product::Grows::rows, 1, 1, {}});
  return op;
}

/// A node with one operator each way; keeps its input when `keeps`.
TensorId layer(Tape& tape, TensorId input, const Operator& op, bool keeps,
               std::vector<std::uint32_t> ready = {}) {
  const TensorId made = tape.result(kShape, {input}, !ready.empty());
  tape.forward(op);
  if (keeps) tape.save(input);
  tape.node({{op, std::move(ready)}}, {input}, made);
  return made;
}

double peak(const ExpandedModel& model, ActivationWidth width = ActivationWidth::full,
            GradientTensors gradients = GradientTensors::kept) {
  return peak_bytes(model.lifetimes, 1, width, gradients) / kMiB;
}

}  // namespace

TEST_CASE("a tensor that nothing keeps is gone after its last reader") {
  Tape tape("t");
  tape.begin_layer("chain");
  TensorId x = tape.input(kShape);
  x = layer(tape, x, operator_of(OperatorClass::gemm), false, {tape.parameter("weight", 1)});
  for (int i = 0; i < 5; ++i) x = layer(tape, x, operator_of(OperatorClass::elementwise), false);
  // The batch, which the script holds, an operand and a result; backward the batch and two gradients.
  CHECK(peak(std::move(tape).finish()) == 12);
}

TEST_CASE("what is kept adds up until backward comes back to it") {
  Tape tape("t");
  tape.begin_layer("chain");
  TensorId x = tape.input(kShape);
  x = layer(tape, x, operator_of(OperatorClass::gemm), true, {tape.parameter("weight", 1)});
  for (int i = 0; i < 5; ++i) x = layer(tape, x, operator_of(OperatorClass::elementwise), true);
  // After the forward pass the batch, five kept results and the last one: 28 MiB. The first step of backward
  // needs the last kept one and makes its gradient, while the result is gone: the same; each further step
  // frees one tensor and makes one.
  CHECK(peak(std::move(tape).finish()) == 28);
}

TEST_CASE("a sum hands one gradient to both its operands") {
  Tape tape("t");
  tape.begin_layer("block");
  const TensorId x =
      layer(tape, tape.input(kShape), operator_of(OperatorClass::gemm), false, {tape.parameter("weight", 1)});
  const TensorId y = layer(tape, x, operator_of(OperatorClass::elementwise), false);
  const TensorId sum = tape.result(kShape, {x, y}, false);
  tape.forward(operator_of(OperatorClass::elementwise));
  tape.node({}, {x, y}, sum);
  const TensorId end = layer(tape, sum, operator_of(OperatorClass::elementwise), false);
  static_cast<void>(end);
  // Forward, at the sum: batch, x, y, sum. Backward, at y: batch, the sum's gradient, shared with x, and what
  // y adds to it.
  CHECK(peak(std::move(tape).finish()) == 16);
}

TEST_CASE("autocast stores what follows a product in 16 bit, and fp32 behind layers that need it") {
  const auto chain = [](OperatorClass last, bool half_capable) {
    Tape tape("t");
    tape.begin_layer("chain");
    TensorId x = tape.input(kShape);
    x = layer(tape, x, operator_of(OperatorClass::gemm), true, {tape.parameter("weight", 1)});
    x = layer(tape, x, operator_of(OperatorClass::elementwise), true);
    layer(tape, x, operator_of(last, half_capable), true);
    return std::move(tape).finish();
  };
  // Batch 4; its 16-bit copy 2, which the product keeps; the product's and the next result 2 each; the last
  // one 2.
  CHECK(peak(chain(OperatorClass::elementwise, true), ActivationWidth::autocast) == 12);
  // A layer in fp32 copies its 16-bit operand, keeps the copy and makes fp32: 4 + 2 + 2 + (the operand 2) + 4
  // + 4.
  CHECK(peak(chain(OperatorClass::reduction, false), ActivationWidth::autocast) == 18);
  // All in 16 bit: batch, two kept results, the last one.
  CHECK(peak(chain(OperatorClass::reduction, false), ActivationWidth::half) == 8);
  CHECK(peak(chain(OperatorClass::reduction, false), ActivationWidth::full) == 16);
}

TEST_CASE("dropout's mask takes a quarter of the four bytes that the operators count") {
  Tape tape("t");
  tape.begin_layer("drop");
  const TensorId x =
      layer(tape, tape.input(kShape), operator_of(OperatorClass::gemm), false, {tape.parameter("weight", 1)});
  const TensorId y = tape.result(kShape, {x}, false);
  Operator dropout = operator_of(OperatorClass::elementwise);
  dropout.call = HostCall::dropout;
  tape.forward(dropout);
  tape.save(per_sample(4 * kMiB));
  tape.node({{dropout, {}}}, {x}, y);
  CHECK(peak(std::move(tape).finish()) == 13);  // batch, x, y, and 1 MiB of mask
}

TEST_CASE("gradients of parameters come one by one, unless they are always there") {
  Tape tape("t");
  tape.begin_layer("one");
  const TensorId x = layer(tape, tape.input(kShape), operator_of(OperatorClass::gemm), false,
                           {tape.parameter("weight", 1 << 20)});
  tape.begin_layer("two");
  layer(tape, x, operator_of(OperatorClass::gemm), true, {tape.parameter("weight", 2 << 20)});
  const ExpandedModel model = std::move(tape).finish();
  CHECK(model.lifetimes.parameter_gradients.size() == 2);
  CHECK(peak(model) == 12);  // batch, x and the result, or x and its gradient
  // Second layer's gradient of 8 MiB beside batch, x and the gradient of x; at the end 12 MiB of gradients
  // beside two.
  CHECK(peak(model, ActivationWidth::full, GradientTensors::made_anew) == 20);
}

}  // namespace lifetimes_test
