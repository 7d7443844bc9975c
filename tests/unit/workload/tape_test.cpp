// The tape alone: reversal, accumulation, storages.
#include "sim/workload/tape/tape.hpp"

#include "tests/support/catch.hpp"

namespace tape_test {

using namespace foretrain;

namespace {

BackwardStep step(double flops, std::vector<std::uint32_t> ready = {}) {
  return {make_operator(OperatorClass::gemm, HostCall::linear, per_sample(flops), {}), std::move(ready)};
}

std::vector<double> backward_flops(const ExpandedModel& model) {
  std::vector<double> flops;
  for (const BackwardStep& s : model.backward) flops.push_back(s.op.flops.per_sample);
  return flops;
}

}  // namespace

TEST_CASE("a tape plays its nodes backwards") {
  Tape tape("t");
  tape.begin_layer("one");
  const TensorId x = tape.input(Shape::features(4));
  const TensorId y = tape.result(Shape::features(4), {x}, true);
  tape.node({step(100)}, {x}, y);
  tape.begin_layer("two");
  const TensorId z = tape.result(Shape::features(4), {y}, false);
  tape.node({step(200)}, {y}, z);
  const ExpandedModel model = std::move(tape).finish();
  CHECK(backward_flops(model) == std::vector<double>{200, 100});
  CHECK(model.backward[0].op.layer == 1);
  CHECK(model.backward[1].op.layer == 0);
  CHECK(model.backward[0].op.backward);
}

TEST_CASE("the second gradient of a tensor is added to the first") {
  Tape tape("t");
  tape.begin_layer("one");
  const TensorId x = tape.input(Shape::features(4));
  const TensorId y = tape.result(Shape::features(4), {x}, true);
  tape.node({step(100)}, {x}, y);
  const TensorId left = tape.result(Shape::features(4), {y}, false),
                 right = tape.result(Shape::features(4), {y}, false);
  const std::uint32_t weight = tape.parameter("weight", 16);
  tape.node({step(200, {weight})}, {y}, left);
  tape.node({step(300)}, {y}, right);
  const ExpandedModel model = std::move(tape).finish();
  CHECK(backward_flops(model) == std::vector<double>{300, 200, 4, 100});
  CHECK(model.backward[1].ready.empty());
  CHECK(model.backward[2].ready == std::vector<std::uint32_t>{weight});
}

TEST_CASE("a node nothing trained feeds is dropped") {
  Tape tape("t");
  tape.begin_layer("one");
  const TensorId x = tape.input(Shape::features(4));
  const TensorId y = tape.result(Shape::features(4), {x}, false);
  tape.node({step(100)}, {x}, y);
  CHECK(std::move(tape).finish().backward.empty());
}

TEST_CASE("aliases are kept once, ids in eight bytes") {
  Tape tape("t");
  tape.begin_layer("one");
  const TensorId ids = tape.input(*input_shape({10}, true));
  const TensorId y = tape.result(Shape::features(4), {ids}, true);
  const TensorId view = tape.alias(Shape::features(4), y);
  for (const TensorId tensor : {ids, y, view, ids}) tape.save(tensor);
  CHECK(std::move(tape).finish().saved_bytes.per_sample == 8 * 10 + 4 * 4);
}

}  // namespace tape_test
