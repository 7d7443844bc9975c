// What frameworks make of the operators: taken apart in a graph, fused by a compiler.
#include "sim/workload/lowering/lowering.hpp"

#include "sim/workload/tape/tape.hpp"
#include "tests/support/catch.hpp"

namespace lowering_test {

using namespace foretrain;

namespace {

Operator operator_of(OperatorClass cls, HostCall call, double flops, double bytes) {
  return make_operator(cls, call, per_sample(flops), per_sample(bytes));
}

const Operator kConv = operator_of(OperatorClass::conv, HostCall::conv2d, 1000, 80);
const Operator kNorm = operator_of(OperatorClass::normalization, HostCall::batch_norm, 80, 80);
const Operator kRelu = operator_of(OperatorClass::elementwise, HostCall::activation, 10, 80);
const Operator kAdd = operator_of(OperatorClass::elementwise, HostCall::add, 10, 120);
const Operator kGelu = operator_of(OperatorClass::elementwise, HostCall::gelu, 80, 80);

Framework running(Execution execution) {
  Framework framework;
  framework.execution = execution;
  return framework;
}

}  // namespace

TEST_CASE("a compiler joins element-wise operators to what they follow and leaves convolutions alone") {
  ExpandedModel model;
  model.forward = {kConv, kRelu, kConv, kNorm, kAdd, kRelu};
  const ExpandedModel fused = lower(model, running(Execution::compiled));
  REQUIRE(fused.forward.size() == 4);
  CHECK(fused.forward[1].bytes.per_sample == 80);  // the first ReLU follows a library call
  CHECK(fused.forward[3].bytes.per_sample ==
        80 + 40);  // the add still reads its other operand: 4 of 12 bytes an element
  CHECK(fused.forward[3].kernels == 1);
  CHECK(fused.forward_flops().per_sample == model.forward_flops().per_sample);
}

TEST_CASE("fusing keeps every gradient and its moment") {
  ExpandedModel model;
  model.backward = {{kRelu, {}}, {kNorm, {1, 2}}, {kRelu, {}}, {kConv, {0}}};
  for (BackwardStep& step : model.backward) step.op.backward = true;
  CHECK(lower(model, running(Execution::compiled)).gradient_ready_order() ==
        std::vector<std::uint32_t>{1, 2, 0});
}

TEST_CASE("a graph executor runs GELU and layer normalization as their primitives, in 32 bit") {
  ExpandedModel model;
  model.forward = {kGelu, kRelu};
  const ExpandedModel lowered = lower(model, running(Execution::graph));
  CHECK(lowered.forward[0].kernels == 8);
  CHECK(lowered.forward[0].bytes.per_sample == 9 * 80);
  CHECK_FALSE(lowered.forward[0].half_capable);
  CHECK(lowered.forward[1].kernels == 1);
  CHECK(lowered.forward[1].bytes.per_sample == 80);
}

TEST_CASE("eager frameworks run the operators as they are") {
  ExpandedModel model;
  model.forward = {kConv, kRelu, kRelu};
  CHECK(lower(model, running(Execution::eager)).forward.size() == 3);
  CHECK(lower(model, running(Execution::cuda_graphs)).forward.size() == 3);
}

TEST_CASE("a compiler joins nothing to an operator of stated time, nor such an operator to another") {
  Operator stated = kRelu;
  stated.stated = milliseconds(2);
  ExpandedModel model;
  model.forward = {stated, stated, kRelu, stated};  // joined, the second time or the ReLU's bytes were lost
  const ExpandedModel fused = lower(model, running(Execution::compiled));
  REQUIRE(fused.forward.size() == 4);
  CHECK(fused.forward[1].stated == milliseconds(2));
  CHECK(fused.forward[2].bytes.per_sample == 80);
}

}  // namespace lowering_test
