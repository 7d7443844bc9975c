// Where tensors meet: sums and products of unlike shapes, concatenations, and results taken by name.
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace join_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

Layer join(std::string_view type, std::vector<std::vector<Layer>> branches) {
  Layer layer = plain(type);
  layer.branches = std::move(branches);
  return layer;
}

Layer named(Layer layer, const std::string& as, std::vector<std::string> from = {}) {
  layer.as = {as}, layer.from = std::move(from);
  return layer;
}

ExpansionResult expanded(std::vector<std::int64_t> input, std::vector<Layer> layers) {
  layers.push_back(plain("loss"));
  return expand({"small", "", std::move(input), false, std::move(layers)});
}

std::string fault_of(std::vector<std::int64_t> input, std::vector<Layer> layers) {
  const ExpansionResult result = expanded(std::move(input), std::move(layers));
  REQUIRE(result.faults.size() == 1);
  CHECK_FALSE(result.faults[0].hint.empty());
  return result.faults[0].message;
}

/// conv(4 channels), then the image times a gate of one number a channel.
std::vector<Layer> gated() {
  return {conv(4, 3, 1, 1, false), join("multiply", {{adaptive_avg_pool(1), plain("sigmoid")}, {}})};
}

}  // namespace

TEST_CASE("a gate of one number a channel is spread over the image") {
  const ExpandedModel model = expanded({3, 8, 8}, gated()).model;
  const Operator& product = model.forward[3];  // convolution, pool, sigmoid, product
  CHECK(product.flops.per_sample == 256);
  CHECK(product.bytes.per_sample == 4 * (256 + 256 + 4));
  CHECK(to_string(model.layer_traces[3].result) == "[4, 8, 8]");
}

TEST_CASE("backward of a gate is two products and a sum over the image") {
  const ExpandedModel model = expanded({3, 8, 8}, gated()).model;
  // loss, log-softmax, gate's gradient, image's gradient, sum, sigmoid, pool, the image's second gradient
  // added, convolution.
  REQUIRE(model.backward.size() == 9);
  for (std::size_t i : {2, 3, 4}) CHECK(model.backward[i].op.flops.per_sample == 256);
  CHECK(model.backward[4].op.cls == OperatorClass::reduction);
  CHECK(model.backward[4].op.bytes.per_sample == 4 * (256 + 4));
  CHECK(model.backward[7].op.call == HostCall::add);
  CHECK(model.backward[8].ready == std::vector<std::uint32_t>{0});
}

TEST_CASE("a product keeps both factors") {
  // Kept: the input 768, the convolution's result 1024 (by pool and product), the gate 16, log-probabilities
  // 1024 and 64 targets of 8.
  CHECK(expanded({3, 8, 8}, gated()).model.saved_bytes.per_sample == 768 + 1024 + 16 + 1024 + 512);
}

TEST_CASE("features spread over the channels of an image and over the rows of a sequence") {
  const std::vector<Layer> image{named(conv(4, 1, 1, 0, false), "x"), adaptive_avg_pool(1), plain("flatten"),
                                 linear(4), named(plain("add"), "sum", {"x"})};
  std::vector<Layer> layers = image;
  layers.back().from.clear();
  layers.back().with = {"x"};
  const ExpandedModel model = expanded({3, 8, 8}, layers).model;
  CHECK(to_string(model.layer_traces.back().result) == "[1]");
  CHECK(to_string(model.layer_traces[4].result) == "[4, 8, 8]");
}

TEST_CASE("a sum of unlike shapes sums the smaller operand's gradient") {
  const ExpandedModel model =
      expanded({3, 8, 8}, {conv(4, 3, 1, 1, false), join("add", {{adaptive_avg_pool(1)}, {}})}).model;
  // loss, log-softmax, sum over the image, pool, addition of both gradients, convolution.
  REQUIRE(model.backward.size() == 6);
  CHECK(model.backward[2].op.cls == OperatorClass::reduction);
  CHECK(model.backward[2].op.flops.per_sample == 256);
}

TEST_CASE("shapes that do not spread are a fault with both shapes") {
  CHECK(fault_of({3, 8, 8}, {join("multiply", {{conv(4, 1, 1, 0, false)}, {}})}) ==
        "multiply: branch 1 gives [4, 8, 8], branch 2 gives [3, 8, 8]");
  CHECK(fault_of({3, 8, 8}, {join("concat", {{max_pool(2)}, {}})}) ==
        "concat: branch 1 gives [3, 4, 4], branch 2 gives [3, 8, 8]");
}

TEST_CASE("a named result feeds a later layer and gathers both gradients") {
  // x goes through a perceptron and around it.
  Layer sum = plain("add");
  sum.with = {"x"};
  const ExpandedModel model = expanded({6}, {named(linear(6, false), "x"), linear(6, false), sum}).model;
  CHECK(model.gradient_ready_order() == std::vector<std::uint32_t>{1, 0});
  CHECK(model.backward[3].op.call == HostCall::add);  // loss, log-softmax, linear2, addition, linear1
}

TEST_CASE("a list of names gives all its results in order, and one is enough") {
  std::vector<Layer> layers{named(linear(2, false), "f+"), named(plain("concat"), "all", {"f"}),
                            named(linear(3, false), "f+"), named(plain("concat"), "more", {"f"})};
  const ExpandedModel model = expanded({6}, layers).model;
  CHECK(to_string(model.layer_traces[1].result) == "[2]");
  CHECK(to_string(model.layer_traces[3].result) == "[5]");
}

TEST_CASE("an unknown name is a fault, but not when its layer had one") {
  CHECK(fault_of({6}, {named(linear(2), "x", {"y"})}) == "no result is named \"y\"");
  Layer join_faulty = plain("add");
  join_faulty.branches = {{named(conv(1, 1, 1, 0, true), "x")}, {named(linear(6), "y", {"x"})}};
  CHECK_THAT(fault_of({6}, {join_faulty}), ContainsSubstring("conv2d needs an image"));
}

TEST_CASE("a join needs two inputs, and no layer but a join takes several") {
  CHECK_THAT(fault_of({6}, {plain("add")}), ContainsSubstring("add has 0 branches"));
  CHECK_THAT(fault_of({6}, {join("add", {{}})}), ContainsSubstring("add has 1 branches"));
  CHECK_THAT(fault_of({6}, {named(linear(2), "x"), named(linear(2), "y", {"x", "x"})}),
             ContainsSubstring("linear takes one input, not 2"));
}

TEST_CASE("lists of names do not make the number of joined results explode") {
  std::vector<Layer> layers;
  for (int i = 0; i < 2'000; ++i) {
    layers.push_back(named(linear(1, false), "f+"));
    layers.push_back(named(plain("add"), "sum" + std::to_string(i), {"f"}));
  }
  CHECK_THAT(fault_of({1}, layers), ContainsSubstring("joins more than 1000000 results"));
}

}  // namespace join_test
