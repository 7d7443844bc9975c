// Layers that hold no weights, norms and losses: FLOPs, bytes, what is kept, and copies in place.
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/expanded_layers.hpp"

namespace layers_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

Layer typed(std::string_view type, bool inplace = false) {
  Layer layer = plain(type);
  if (inplace) set(layer, "inplace", true);
  return layer;
}

std::string fault_of(std::vector<std::int64_t> input, const Layer& layer) {
  const ExpansionResult result = expand({"small", "", std::move(input), false, {layer, plain("loss")}});
  REQUIRE(result.faults.size() == 1);
  CHECK_FALSE(result.faults[0].hint.empty());
  return result.faults[0].message;
}

/// What a network of linear, the layer, linear (6 features each) keeps beside the first input and the loss's
/// 24 + 8 bytes.
double kept(const Layer& layer) {
  return expanded({6}, {linear(6), layer, linear(6)}).saved_bytes.per_sample - 24 - 32;
}

}  // namespace

TEST_CASE("activations keep their result, their input, or in place a copy of it") {
  CHECK(kept(typed("relu")) == 24);  // the result, which the next layer keeps too
  CHECK(kept(typed("sigmoid", true)) == 24);
  CHECK(kept(typed("silu")) == 48);        // its input and its result
  CHECK(kept(typed("silu", true)) == 48);  // a copy of its input and its result
  CHECK(kept(typed("relu6", true)) == 48);
  CHECK(kept(typed("elu")) == 48);
  CHECK(kept(typed("elu", true)) == 24);  // makes do with its result
  CHECK(kept(typed("leaky_relu", true)) == 24);
}

TEST_CASE("a copy in place is a kernel of its own") {
  const ExpandedModel model = expanded({6}, {linear(6), typed("silu", true)});
  CHECK(model.forward[1].kernels == 2);
  CHECK(model.forward[1].bytes.per_sample == 16 * 6);
  CHECK(model.forward[1].flops.per_sample == 6);
  CHECK(model.backward[2].op.flops.per_sample == 8 * 6);
}

TEST_CASE("dropped channels and samples take a factor each and one product") {
  const ExpandedModel channels = expanded({3, 8, 8}, {conv(4, 1, 1, 0, false), typed("dropout_channels")});
  CHECK(channels.forward[1].flops.per_sample == 3 * 4 + 256);
  CHECK(channels.forward[1].kernels == 3);
  CHECK(channels.backward[2].op.flops.per_sample == 256);
  const ExpandedModel samples = expanded({3, 8, 8}, {conv(4, 1, 1, 0, false), typed("drop_path")});
  CHECK(samples.forward[1].flops.per_sample == 2 + 256);
  CHECK(channels.saved_bytes.per_sample - samples.saved_bytes.per_sample == 16 - 4);
  CHECK_THAT(fault_of({6}, typed("dropout_channels")), ContainsSubstring("needs an image"));
}

TEST_CASE("dropout in place on a view replays the view on its gradient") {
  const auto dropout_kernels = [](bool inplace) {
    const ExpandedModel model = expanded(
        {3, 2, 2}, {conv(4, 1, 1, 0, false), plain("flatten"), typed("dropout", inplace), linear(2)});
    return model.backward[3].op.kernels;  // loss, log-softmax, linear, dropout
  };
  CHECK(dropout_kernels(false) == 1);
  CHECK(dropout_kernels(true) == 6);
}

TEST_CASE("upsampling multiplies the sides, and bilinear blends four neighbours") {
  Layer up = plain("upsample");
  const ExpandedModel nearest = expanded({3, 4, 5}, {conv(2, 1, 1, 0, false), up});
  CHECK(to_string(nearest.layer_traces[1].result) == "[2, 8, 10]");
  CHECK(nearest.forward[1].flops.per_sample == 160);
  CHECK(nearest.forward[1].bytes.per_sample == 4 * (40 + 160));
  set_word(up, "mode", "bilinear"), set(up, "factor", {1, 3});
  const ExpandedModel bilinear = expanded({3, 4, 5}, {conv(2, 1, 1, 0, false), up});
  CHECK(to_string(bilinear.layer_traces[1].result) == "[2, 4, 15]");
  CHECK(bilinear.forward[1].flops.per_sample == 7 * 120);
  CHECK_THAT(fault_of({6}, up), ContainsSubstring("upsample needs an image"));
}

TEST_CASE("a slice is a view whose gradient is written into zeros") {
  Layer slice = plain("slice");
  set(slice, "out", 2), set(slice, "offset", 1);
  const ExpandedModel model = expanded({3, 4, 4}, {conv(4, 1, 1, 0, false), slice});
  CHECK(to_string(model.layer_traces[1].result) == "[2, 4, 4]");
  CHECK(model.backward[2].op.bytes.per_sample == 4 * 64 + 8 * 32);
  CHECK(model.backward[2].op.kernels == 2);
  set(slice, "offset", 2);
  CHECK_THAT(fault_of({3, 4, 4}, slice), ContainsSubstring("slice takes 2 to 4 of [3, 4, 4]"));
}

TEST_CASE("a reshape keeps the elements and may leave one size open") {
  Layer reshape = plain("reshape");
  set(reshape, "shape", {-1, 4});
  const ExpandedModel model = expanded({3, 4, 4}, {conv(2, 1, 1, 0, false), reshape});
  CHECK(to_string(model.layer_traces[1].result) == "[8, 4]");
  CHECK(model.forward.size() == 3);  // convolution, log-softmax, loss
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{5, -1}, {2, 4}, {-1, -1}, {}, {1, 2, 3, 4, 2}}) {
    set(reshape, "shape", shape);
    CHECK_THAT(fault_of({3, 4, 4}, reshape), ContainsSubstring("reshape cannot make"));
  }
}

TEST_CASE("group and instance norms keep statistics of every sample") {
  Layer group = plain("group_norm");
  set(group, "groups", 2);
  const ExpandedModel model = expanded({3, 4, 4}, {conv(4, 1, 1, 0, false), group});
  CHECK(model.parameters.size() == 3);
  CHECK(model.forward[1].flops.per_sample == 8 * 64);
  CHECK_FALSE(model.forward[1].half_capable);
  // Convolution's input 192, the norm's input 256 and 2 groups of 8, log-probabilities 256, 16 targets.
  CHECK(model.saved_bytes.per_sample == 192 + 256 + 16 + 256 + 128);
  Layer instance = plain("instance_norm");
  set(instance, "bias", false);
  CHECK(expanded({3, 4, 4}, {conv(4, 1, 1, 0, false), instance}).parameters.size() == 1);
  set(group, "groups", 3);
  CHECK_THAT(fault_of({4, 4, 4}, group), ContainsSubstring("groups = 3 does not divide 4 channels"));
  CHECK_THAT(fault_of({4}, group), ContainsSubstring("group_norm needs an image"));
}

TEST_CASE("a pool's last window may hang over the edge") {
  Layer pool = max_pool(3, 2);
  CHECK(to_string(expanded({1, 8, 8}, {pool}).layer_traces[0].result) == "[1, 3, 3]");
  set(pool, "ceil", true);
  CHECK(to_string(expanded({1, 8, 8}, {pool}).layer_traces[0].result) == "[1, 4, 4]");
  // Such a window must begin inside: 5 + 2 * 1 in steps of 2 would begin at 6, behind the input.
  Layer padded = max_pool(2, 2, 1);
  set(padded, "ceil", true);
  CHECK(to_string(expanded({1, 5, 5}, {padded}).layer_traces[0].result) == "[1, 3, 3]");
  CHECK(to_string(expanded({1, 4, 6, 8}, {max_pool(2)}).layer_traces[0].result) == "[1, 2, 3, 4]");
}

TEST_CASE("losses compare classes of every position, or element by element") {
  const ExpandedModel pixels = expanded({3, 4, 4}, {conv(5, 1, 1, 0, false)});
  // The input 192, log-probabilities 320, 16 targets of 8.
  CHECK(pixels.saved_bytes.per_sample == 192 + 320 + 128);
  Layer mse = plain("loss");
  set_word(mse, "kind", "mse");
  const ExpansionResult result = expand({"small", "", {6}, false, {linear(4), mse}});
  REQUIRE(result.faults.empty());
  CHECK(result.model.forward[1].flops.per_sample == 3 * 4);
  CHECK(result.model.saved_bytes.per_sample == 24 + 16 + 16);  // linear's input, the prediction, the target
}

TEST_CASE("further losses are added to the first, and backward begins with a one") {
  Layer first = linear(4);
  first.as = {"x"};
  Layer second = plain("loss");
  second.from = {"x"}, set(second, "weighted", true);
  const ExpansionResult result = expand({"small", "", {6}, false, {first, linear(3), plain("loss"), second}});
  REQUIRE(result.faults.empty());
  const ExpandedModel& model = result.model;
  // Two linears, log-softmax and loss, log-softmax and loss with its scaling and its addition.
  CHECK(model.forward[3].kernels == 1);
  CHECK(model.forward[5].kernels == 3);
  CHECK(model.forward[5].flops.fixed == 4);
  CHECK(model.backward[0].op.kernels == 3);  // the one, the scaling, the second loss
  CHECK(model.backward[2].op.kernels == 1);  // the first loss
  CHECK(model.gradient_ready_order() == std::vector<std::uint32_t>{3, 2, 1, 0});
}

}  // namespace layers_test
