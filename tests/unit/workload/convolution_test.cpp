// Convolutions in one, two and three directions and transposed: sizes, weights, FLOPs and the matrix products
// they are.
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace convolution_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

Sides sides(std::vector<std::int64_t> values) { return Sides(values); }

Layer convolution(std::string_view type, std::int64_t out, const Sides& kernel, const Sides& stride = 1,
                  const Sides& padding = 0) {
  Layer layer = plain(type);
  set(layer, "out", out), set(layer, "bias", false);
  set_sides(layer, "kernel", kernel), set_sides(layer, "stride", stride),
      set_sides(layer, "padding", padding);
  return layer;
}

/// The layer behind a 1x1 convolution that keeps the channels, so that it computes its input's gradient too.
ExpansionResult behind_first(std::vector<std::int64_t> input, const Layer& layer) {
  const char* const first = input.size() == 4 ? "conv3d" : "conv2d";
  const std::int64_t channels = input[0];
  return expand(
      {"small", "", std::move(input), false, {convolution(first, channels, 1), layer, plain("loss")}});
}

std::string result_of(std::vector<std::int64_t> input, const Layer& layer) {
  const ExpansionResult result = behind_first(std::move(input), layer);
  REQUIRE(result.faults.empty());
  return to_string(result.model.layer_traces[1].result);
}

std::string fault_of(std::vector<std::int64_t> input, const Layer& layer) {
  const ExpansionResult result = expand({"small", "", std::move(input), false, {layer, plain("loss")}});
  REQUIRE(result.faults.size() == 1);
  CHECK_FALSE(result.faults[0].hint.empty());
  return result.faults[0].message;
}

}  // namespace

TEST_CASE("a kernel with two sides reaches as far as each of them") {
  // Width: 17 + 2 * 3 - 7 + 1 = 17; height stays with kernel 1.
  const Layer row = convolution("conv2d", 8, sides({1, 7}), 1, sides({0, 3}));
  CHECK(result_of({4, 17, 17}, row) == "[8, 17, 17]");
  const ExpandedModel model = behind_first({4, 17, 17}, row).model;
  CHECK(model.parameters[1].elements == 8 * 4 * 7);
  CHECK(model.forward[1].flops.per_sample == 2.0 * 8 * 289 * 4 * 7);
  CHECK(result_of({4, 17, 17}, convolution("conv2d", 8, 3, sides({1, 2}), 1)) == "[8, 17, 9]");
}

TEST_CASE("a signal is an image of height one") {
  CHECK(result_of({80, 1, 800}, convolution("conv1d", 512, 11, 2, 5)) == "[512, 1, 400]");
  CHECK(result_of({80, 1, 800}, convolution("conv1d", 512, 11, 2, -1)) == "[512, 1, 400]");
  const ExpandedModel model = behind_first({80, 1, 800}, convolution("conv1d", 512, 11, 2, 5)).model;
  CHECK(model.parameters[1].elements == 512 * 80 * 11);
  CHECK(model.forward[1].products[0].window == 11);
  CHECK_THAT(fault_of({80, 2, 800}, convolution("conv1d", 8, 3)),
             ContainsSubstring("a signal [channels, 1, length], not [80, 2, 800]"));
}

TEST_CASE("a volume has three sides") {
  CHECK(result_of({1, 16, 32, 64}, convolution("conv3d", 8, 3, 2, 1)) == "[8, 8, 16, 32]");
  const ExpandedModel model =
      behind_first({2, 4, 4, 4}, convolution("conv3d", 8, sides({1, 3, 3}), 1, sides({0, 1, 1}))).model;
  CHECK(model.parameters[1].elements == 8 * 2 * 9);
  CHECK(model.forward[1].flops.per_sample == 2.0 * 8 * 64 * 2 * 9);
  CHECK_THAT(fault_of({1, 8, 8}, convolution("conv3d", 8, 3)), ContainsSubstring("needs a volume"));
  CHECK_THAT(fault_of({1, 8, 8, 8}, convolution("conv2d", 8, 3)), ContainsSubstring("needs an image"));
}

TEST_CASE("a transposed convolution undoes the size of a strided one") {
  // (8 - 1) * 2 - 2 * 1 + 4 = 16; (8 - 1) * 2 - 2 + 3 + 1 = 16 with output padding.
  CHECK(result_of({6, 8, 8}, convolution("conv_transpose", 3, 4, 2, 1)) == "[3, 16, 16]");
  Layer padded = convolution("conv_transpose", 3, 3, 2, 1);
  set(padded, "output_padding", 1);
  CHECK(result_of({6, 8, 8}, padded) == "[3, 16, 16]");
  CHECK(result_of({6, 8, 8}, convolution("conv_transpose", 3, 2, 2, -1)) == "[3, 16, 16]");
  CHECK(result_of({6, 4, 4, 4}, convolution("conv_transpose", 3, 2, 2)) == "[3, 8, 8, 8]");
}

TEST_CASE("a transposed convolution multiplies every input position with the whole window") {
  const ExpandedModel model = behind_first({6, 8, 8}, convolution("conv_transpose", 3, 4, 2, 1)).model;
  CHECK(model.parameters[1].elements == 6 * 3 * 16);
  CHECK(model.forward[1].flops.per_sample == 2.0 * 64 * 6 * 3 * 16);
  const Product& product = model.forward[1].products[0];
  CHECK((product.m == 64 && product.n == 3 * 16 && product.k == 6));
  const Operator& backward = model.backward[2].op;  // loss, log-softmax, convolution
  CHECK(backward.flops.per_sample == 2 * model.forward[1].flops.per_sample);
  CHECK(backward.kernels == 2);
}

TEST_CASE("the products of a convolution have its FLOPs, forward and for both gradients") {
  Layer grouped = convolution("conv2d", 12, 3, 2, 1);
  set(grouped, "groups", 3);
  for (const Layer& layer :
       {grouped, convolution("conv2d", 5, sides({1, 5}), 1, 0), convolution("conv_transpose", 9, 3, 2, 0)}) {
    const ExpandedModel model = behind_first({6, 9, 11}, layer).model;
    const Operator& forward = model.forward[1];
    const Operator& backward = model.backward[2].op;
    REQUIRE((forward.product_count == 1 && backward.product_count == 2));
    CHECK(forward.products[0].flops_per_sample() == forward.flops.per_sample);
    CHECK(backward.products[1].flops_per_sample() == forward.flops.per_sample);
    CHECK(backward.products[1].grows == Product::Grows::depth);
  }
}

TEST_CASE("numbers for three sides do not fit an image, and no kernel is larger than its input") {
  CHECK_THAT(fault_of({1, 8, 8}, convolution("conv2d", 8, sides({3, 3, 3}))),
             ContainsSubstring("kernel = [3, 3, 3] has 3 numbers for 2 sides"));
  CHECK_THAT(fault_of({1, 8, 8}, convolution("conv2d", 8, sides({1, 9}))),
             ContainsSubstring("kernel of [1, 9] does not fit the input [1, 8, 8]"));
  CHECK_THAT(fault_of({1, 8, 8}, convolution("conv_transpose", 8, 1, 1, 4)),
             ContainsSubstring("does not fit"));
}

}  // namespace convolution_test
