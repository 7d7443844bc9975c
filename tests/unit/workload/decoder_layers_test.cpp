// Layers of today's decoders, each in a network of a few numbers: root-mean-square norms, grouped attention,
// T5's bias, experts, trained vectors, products of two results.
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/expanded_layers.hpp"

namespace decoder_layers_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

Layer attention_with(std::int64_t heads, std::int64_t groups) {
  Layer layer = plain("grouped_attention");
  set(layer, "heads", heads), set(layer, "groups", groups);
  return layer;
}

double class_flops(const ExpandedModel& model, OperatorClass cls) {
  double sum = 0;
  for (const Operator& op : model.forward) sum += op.cls == cls ? op.flops.per_sample : 0;
  return sum;
}

int forward_kernels(const ExpandedModel& model) {
  int sum = 0;
  for (const Operator& op : model.forward) sum += op.kernels;
  return sum;
}

std::string fault_of(std::vector<std::int64_t> input, std::vector<Layer> layers) {
  layers.push_back(plain("loss"));
  const ExpansionResult result = expand({"small", "", std::move(input), false, std::move(layers)});
  REQUIRE_FALSE(result.faults.empty());
  return result.faults[0].message;
}

}  // namespace

TEST_CASE("an RMS norm has one vector, six kernels forward, and keeps input, roots and scaled input") {
  const ExpandedModel model = expanded({5, 8}, {linear(8), plain("rms_norm")});
  const ExpandedModel bare = expanded({5, 8}, {linear(8)});
  const double n = 40, r = 5;
  CHECK(model.parameter_elements() - bare.parameter_elements() == 8);
  CHECK(model.forward_flops().per_sample - bare.forward_flops().per_sample == 4 * n + 3 * r);
  CHECK(model.backward_flops().per_sample - bare.backward_flops().per_sample == 11 * n + 3 * r);
  CHECK(forward_kernels(model) - forward_kernels(bare) == 6);
  // The linear layer's result is kept now (4 n), with the norm's own.
  CHECK(model.saved_bytes.per_sample - bare.saved_bytes.per_sample == 4 * n + 4 * n + 4 * r);
}

TEST_CASE("grouped attention has keys and values for its groups, and products for all heads") {
  const ExpandedModel few = expanded({6, 16}, {attention_with(4, 2)}),
                      all = expanded({6, 16}, {attention_with(4, 4)});
  // q and output 16 x 16; keys and values 16 x (groups x 4).
  CHECK(few.parameter_elements() == 2 * 256 + 2 * 16 * 8);
  CHECK(all.parameter_elements() == 4 * 256);
  CHECK(class_flops(few, OperatorClass::attention) == class_flops(all, OperatorClass::attention));
  CHECK(class_flops(few, OperatorClass::attention) == 4. * 6 * 6 * 16);
}

TEST_CASE("heads of grouped attention may be wider than the rows, turned, and normalised") {
  Layer layer = attention_with(4, 1);
  set(layer, "head_width", 8), set(layer, "norm", true);
  const ExpandedModel still = expanded({6, 16}, {layer});
  CHECK(still.parameter_elements() == 2 * 16 * 32 + 2 * 16 * 8 + 2 * 8);
  set(layer, "rotary", 8);
  const ExpandedModel turned = expanded({6, 16}, {layer});
  // 3.5 FLOPs for each of 6 x (4 + 1) x 8 elements.
  CHECK(turned.forward_flops().per_sample - still.forward_flops().per_sample == 3.5 * 6 * 5 * 8);
  CHECK(turned.parameter_elements() == still.parameter_elements());
}

TEST_CASE("causal attention in one kernel computes half of the products") {
  Layer layer = attention_with(4, 4);
  set(layer, "fused", true);
  const double whole = class_flops(expanded({6, 16}, {layer}), OperatorClass::attention);
  set(layer, "causal", true);
  CHECK(class_flops(expanded({6, 16}, {layer}), OperatorClass::attention) == whole / 2);
}

TEST_CASE("a packed projection has the parameters of three") {
  Layer layer = attention_with(4, 4);
  set(layer, "packed", true), set(layer, "query_bias", true), set(layer, "output_bias", true);
  CHECK(expanded({6, 16}, {layer}).parameter_elements() == 4 * 256 + 3 * 16 + 16);
}

TEST_CASE("grouped attention says what does not go together") {
  CHECK_THAT(fault_of({6, 16}, {attention_with(4, 3)}),
             ContainsSubstring("groups = 3 does not divide 4 heads"));
  CHECK_THAT(fault_of({6, 16}, {attention_with(5, 5)}),
             ContainsSubstring("5 heads do not divide the width 16"));
  Layer wide = attention_with(4, 4);
  set(wide, "rotary", 5);
  CHECK_THAT(fault_of({6, 16}, {wide}), ContainsSubstring("rotary = 5 of a head of 4"));
  Layer lonely = attention_with(4, 4);
  set(lonely, "relative", true);
  CHECK_THAT(fault_of({6, 16}, {lonely}), ContainsSubstring("relative asks for `memory`"));
}

TEST_CASE("a relative bias is one table for all layers that add it") {
  Layer rows = linear(16), bias = plain("relative_bias"), first = attention_with(4, 4);
  rows.as = {"rows"};
  set(bias, "heads", 4), set(bias, "buckets", 32), bias.as = {"bias"};
  set(first, "relative", true), first.with = {"bias"};
  Layer second = first;
  first.from = {"rows"};
  const ExpandedModel model = expanded({6, 16}, {rows, bias, first, second});
  CHECK(model.parameter_elements() == (256 + 16) + 4 * 32 + 2 * 4 * 256);
  // Both layers' gradients of the bias are added before the table gets its own, next to last.
  const std::vector<std::uint32_t> order = model.gradient_ready_order();
  CHECK(model.parameters[order[order.size() - 3]].elements == 4 * 32);
}

TEST_CASE("experts share out the chosen rows, and each has its own weights") {
  Layer layer = plain("experts");
  set(layer, "experts", 4), set(layer, "top", 2), set(layer, "width", 24);
  const ExpandedModel model = expanded({6, 16}, {linear(16), layer});
  CHECK(model.parameter_elements() == (256 + 16) + 16 * 4 + 4 * 3 * 16 * 24);
  // The router for 6 rows, and 12 chosen rows through three products.
  const double linear_flops = 6. * (2 * 16 * 16 + 16);
  CHECK(model.forward_gemm_flops().per_sample == linear_flops + 2. * 6 * 16 * 4 + 12. * 2 * 3 * 16 * 24);
  CHECK(model.gradient_ready_order().size() == model.parameters.size());
  set(layer, "top", 5);
  CHECK_THAT(fault_of({6, 16}, {layer}), ContainsSubstring("top = 5 of 4 experts"));
}

TEST_CASE("a window of keys is what the fused kernel computes of causal attention") {
  Layer layer = attention_with(4, 4);
  set(layer, "fused", true), set(layer, "causal", true);
  const double half = class_flops(expanded({8, 16}, {layer}), OperatorClass::attention);
  set(layer, "window", 8);
  CHECK(class_flops(expanded({8, 16}, {layer}), OperatorClass::attention) == half);
  // Of 64 pairs those of a band 4 wide: 4 / 8 (1 - 4 / 16) = 3 / 8.
  set(layer, "window", 4);
  CHECK(class_flops(expanded({8, 16}, {layer}), OperatorClass::attention) == half * 3 / 4);
  set(layer, "causal", false);
  REQUIRE(check_layer(layer).size() == 1);
  CHECK_THAT(check_layer(layer)[0].message, ContainsSubstring("a window asks for causal"));
}

TEST_CASE("slopes by distance are a pass over the scores, and nothing in one kernel") {
  Layer layer = attention_with(4, 4);
  const ExpandedModel bare = expanded({6, 16}, {layer});
  set(layer, "alibi", true);
  const ExpandedModel sloped = expanded({6, 16}, {layer});
  CHECK(sloped.forward_flops().per_sample - bare.forward_flops().per_sample == 4 * 6 * 6);
  CHECK(sloped.backward_flops().per_sample == bare.backward_flops().per_sample);
  CHECK(sloped.parameter_elements() == bare.parameter_elements());
  set(layer, "fused", true);
  Layer fused = attention_with(4, 4);
  set(fused, "fused", true);
  CHECK(expanded({6, 16}, {layer}).forward_flops().per_sample ==
        expanded({6, 16}, {fused}).forward_flops().per_sample);
}

TEST_CASE("queries and keys are normalised head by head, or in whole rows") {
  Layer layer = attention_with(4, 2);
  const std::int64_t bare = expanded({6, 16}, {layer}).parameter_elements();
  set(layer, "norm_rows", true);
  CHECK(expanded({6, 16}, {layer}).parameter_elements() - bare == 16 + 8);
  set(layer, "norm", true);
  REQUIRE(check_layer(layer).size() == 1);
  CHECK_THAT(check_layer(layer)[0].message, ContainsSubstring("norm and norm_rows"));
}

TEST_CASE("a squared ReLU keeps one tensor, and backward is three operators") {
  const ExpandedModel model = expanded({5, 8}, {linear(8), plain("squared_relu")}),
                      bare = expanded({5, 8}, {linear(8)});
  const double n = 40;
  CHECK(model.forward_flops().per_sample - bare.forward_flops().per_sample == 2 * n);
  CHECK(model.backward_flops().per_sample - bare.backward_flops().per_sample == 3 * n);
  CHECK(forward_kernels(model) - forward_kernels(bare) == 2);
}

TEST_CASE("a layer norm has two trained vectors, one, or none") {
  Layer norm = plain("layer_norm");
  const std::int64_t both = expanded({5, 8}, {linear(8), norm}).parameter_elements();
  set(norm, "bias", false);
  CHECK(both - expanded({5, 8}, {linear(8), norm}).parameter_elements() == 8);
  set(norm, "trained", false);
  CHECK(both - expanded({5, 8}, {linear(8), norm}).parameter_elements() == 16);
}

TEST_CASE("a trained vector goes over the channels of an image or the width of rows") {
  const ExpandedModel image = expanded({3, 4, 4}, {plain("trained_scale")});
  CHECK(image.parameter_elements() == 3);
  CHECK(image.forward_flops().per_sample - expanded({3, 4, 4}, {plain("scale")}).forward_flops().per_sample ==
        0);
  CHECK(expanded({5, 8}, {plain("trained_shift")}).parameter_elements() == 8);
  Layer whole = plain("trained_shift");
  set(whole, "out", 40);
  CHECK(expanded({5, 8}, {whole}).parameter_elements() == 40);
  set(whole, "out", 7);
  CHECK_THAT(fault_of({5, 8}, {whole}), ContainsSubstring("out = 7 does not fit [5, 8]"));
}

TEST_CASE("a product of two results has a product for each of them backward") {
  Layer left = linear(8), turned = plain("reshape"), product = plain("matmul");
  left.as = {"left"};
  set(turned, "shape", {8, 5}), turned.as = {"right"};
  product.from = {"left", "right"};
  const ExpandedModel model = expanded({5, 8}, {left, turned, product});
  CHECK(class_flops(model, OperatorClass::attention) == 2. * 5 * 8 * 5);
  double backward = 0;
  for (const BackwardStep& step : model.backward)
    backward += step.op.cls == OperatorClass::attention ? step.op.flops.per_sample : 0;
  CHECK(backward == 2 * 2. * 5 * 8 * 5);
  product.from = {"left", "left"};
  CHECK_THAT(fault_of({5, 8}, {left, turned, product}), ContainsSubstring("matmul takes [heads, m, k]"));
}

}  // namespace decoder_layers_test
