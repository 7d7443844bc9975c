// Small operators between layers, and regions cut out of feature maps.
#include "sim/workload/layers/layer_types.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace detection_test {

using namespace foretrain;

namespace {

Layer pointwise(std::int64_t operators, std::int64_t out, bool gradient) {
  Layer layer = test::plain("pointwise");
  test::set(layer, "operators", operators), test::set(layer, "out", out),
      test::set(layer, "gradient", gradient);
  return layer;
}

Layer roi_align(std::int64_t regions, std::int64_t side) {
  Layer layer = test::plain("roi_align");
  test::set(layer, "out", regions), test::set(layer, "kernel", side);
  return layer;
}

Applied joined(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs) {
  return layer.type->join(tape, layer, inputs);
}

ExpandedModel with_pointwise(const Layer& layer) {
  Model model{
      "small",
      "",
      {3, 8, 8},
      false,
      {test::conv(4, 3, 1, 1, false), layer, test::plain("flatten"), test::linear(2), test::plain("loss")}};
  const ExpansionResult result = expand(model);
  REQUIRE(result.faults.empty());
  return result.model;
}

const Operator& find_operator(const ExpandedModel& model, const std::string& layer) {
  for (const Operator& op : model.forward) {
    if (model.layer_names[op.layer].starts_with(layer)) return op;
  }
  FAIL(layer);
  return model.forward.front();
}

/// Operators that a network's backward pass issues for a layer.
std::size_t backward_operators(const ExpandedModel& model, const std::string& layer) {
  std::size_t count = 0;
  for (const BackwardStep& step : model.backward)
    count += model.layer_names[step.op.layer].starts_with(layer) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("pointwise operators are so many calls and kernels, each reading and writing its elements") {
  const ExpandedModel model = with_pointwise(pointwise(5, 0, false));
  const Operator& op = find_operator(model, "pointwise");
  CHECK(op.kernels == 5);
  CHECK(op.calls == 5);
  CHECK(op.bytes.per_sample == Approx(5 * 8 * 4 * 8 * 8));  // 4 channels of 8 x 8, 4 bytes in and 4 out
  CHECK(find_operator(with_pointwise(pointwise(5, 10, false)), "pointwise").bytes.per_sample ==
        Approx(5 * 8 * 10));
}

TEST_CASE("pointwise operators run backward only with a gradient, which passes them either way") {
  const ExpandedModel silent = with_pointwise(pointwise(5, 0, false)),
                      trained = with_pointwise(pointwise(5, 0, true));
  CHECK(backward_operators(silent, "pointwise") == 0);
  CHECK(backward_operators(trained, "pointwise") == 1);
  CHECK(backward_operators(silent, "conv2d") > 0);
}

TEST_CASE("regions are stacked along the height, from all levels of a pyramid") {
  Tape tape("regions");
  tape.begin_layer("input");
  const TensorId large = tape.input(Shape::image(256, 40, 60)),
                 small = tape.result(Shape::image(256, 20, 30), {large}, true);
  tape.begin_layer("roi_align");
  const Applied applied = joined(tape, roi_align(512, 7), {large, small});
  REQUIRE(applied.ok());
  CHECK(tape.at(applied.tensor).shape == Shape::image(256, 512 * 7, 7));
  const ExpandedModel model = std::move(tape).finish();
  // Four sample points are read for every output.
  CHECK(model.forward.back().bytes.per_sample == Approx(4.0 * 5 * 256 * 512 * 49));
  // Backward zeroes both levels and reads and writes at the sample points.
  CHECK(model.backward.back().op.bytes.per_sample ==
        Approx(4.0 * (9 * 256 * 512 * 49 + 256 * (40 * 60 + 20 * 30))));
}

TEST_CASE("regions of something that is no pyramid are a misfit with both shapes") {
  Tape tape("regions");
  tape.begin_layer("input");
  const TensorId image = tape.input(Shape::image(256, 40, 60)), other = tape.input(Shape::image(128, 20, 30));
  CHECK_THAT(joined(tape, roi_align(8, 7), {image, other}).message,
             ContainsSubstring("[256, 40, 60] and [128, 20, 30]"));
  CHECK_FALSE(joined(tape, roi_align(8, 7), {tape.input(Shape::features(9))}).ok());
  CHECK_FALSE(joined(tape, roi_align(1'000'000, 1'000'000), {image}).ok());
}

TEST_CASE("numbers of pointwise operators and regions have ranges") {
  CHECK(check_layer(pointwise(10'001, 0, false)).size() == 1);
  CHECK(check_layer(pointwise(1, 0, true)).empty());
  CHECK_FALSE(check_layer(roi_align(0, 7)).empty());
}

}  // namespace detection_test
