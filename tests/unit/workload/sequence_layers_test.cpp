// Layers over sequences, each in a network of a few numbers: tables, positions, views, shared weights,
// attention in its forms.
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/expanded_layers.hpp"

namespace sequence_layers_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

Layer embedding_of(std::int64_t entries, std::int64_t width, const std::string& weights = "") {
  Layer layer = plain("embedding");
  set(layer, "entries", entries), set(layer, "out", width), layer.weights = weights;
  return layer;
}

Layer attention_of(std::int64_t heads) {
  Layer layer = plain("attention");
  set(layer, "heads", heads);
  return layer;
}

Layer position_of(std::int64_t entries, bool trained) {
  Layer layer = plain("position");
  set(layer, "entries", entries), set(layer, "trained", trained);
  return layer;
}

/// Token ids of this length through the layers, then a flat head and the loss.
Model over_tokens(std::int64_t length, std::vector<Layer> layers) {
  Model model;
  model.name = "test", model.input = {length}, model.input_is_tokens = true, model.layers = std::move(layers);
  model.layers.push_back(plain("loss"));
  return model;
}

std::string fault_of(const Model& model) {
  const ExpansionResult result = expand(model);
  REQUIRE_FALSE(result.faults.empty());
  return result.faults[0].message;
}

double products_of(const std::vector<Operator>& operators) {
  double sum = 0;
  for (const Operator& op : operators) {
    for (std::uint8_t i = 0; i < op.product_count; ++i) sum += op.products[i].flops_per_sample();
  }
  return sum;
}

double backward_products_of(const ExpandedModel& model) {
  std::vector<Operator> operators;
  for (const BackwardStep& step : model.backward) operators.push_back(step.op);
  return products_of(operators);
}

}  // namespace

TEST_CASE("a head that shares the embedding's table has one gradient, summed, ready with the embedding") {
  Layer head = linear(50, false);
  head.weights = "words";
  const ExpandedModel model = expanded(over_tokens(4, {embedding_of(50, 8, "words"), head}));
  REQUIRE(model.parameters.size() == 1);
  CHECK(model.gradient_ready_order() == std::vector<std::uint32_t>{0});
  CHECK(model.backward.back().ready == std::vector<std::uint32_t>{0});
  CHECK(model.backward.back().op.call == HostCall::add);
  CHECK(model.backward.back().op.flops.fixed == 50 * 8);
  CHECK(model.backward.back().op.bytes.fixed == 12 * 50 * 8);
}

TEST_CASE("layers that share weights of different sizes are a mistake") {
  Layer head = linear(49, false);
  head.weights = "words";
  CHECK_THAT(fault_of(over_tokens(4, {embedding_of(50, 8, "words"), head})),
             ContainsSubstring("share weights \"words\""));
}

TEST_CASE("a parameter registers a weight before the layer that uses it") {
  Layer early = plain("parameter");
  set(early, "out", 5), early.weights = "head", set_word(early, "part", "bias");
  Layer head = linear(5);
  head.weights = "head";
  const ExpandedModel model = expanded(over_tokens(4, {embedding_of(50, 8), early, head}));
  REQUIRE(model.parameters.size() == 3);
  CHECK(model.parameters[1].elements == 5);
  CHECK(model.gradient_ready_order() == std::vector<std::uint32_t>{1, 2, 0});
}

TEST_CASE("a parameter that no layer uses is a mistake") {
  Layer early = plain("parameter");
  set(early, "out", 5), early.weights = "nobody";
  CHECK_THAT(fault_of(over_tokens(4, {embedding_of(50, 8), early, linear(3)})),
             ContainsSubstring("no layer uses the weights \"nobody\""));
  early.weights = "head", set_word(early, "part", "bias");
  Layer head = linear(5, false);
  head.weights = "head";
  CHECK_THAT(fault_of(over_tokens(4, {embedding_of(50, 8), early, head})),
             ContainsSubstring("nothing makes the gradient of parameter1.bias"));
}

TEST_CASE("positions are looked up once for the whole batch, trained as rows, or constants") {
  const ExpandedModel table = expanded(over_tokens(4, {embedding_of(50, 8), position_of(16, true)}));
  CHECK(table.parameter_elements() == 50 * 8 + 16 * 8);
  CHECK(table.forward_flops().fixed - expanded(over_tokens(4, {embedding_of(50, 8)})).forward_flops().fixed ==
        4 * 8 + 4);
  CHECK(expanded(over_tokens(4, {embedding_of(50, 8), position_of(0, true)})).parameter_elements() ==
        50 * 8 + 4 * 8);
  CHECK(expanded(over_tokens(4, {embedding_of(50, 8), position_of(0, false)})).parameter_elements() ==
        50 * 8);
  CHECK_THAT(fault_of(over_tokens(4, {embedding_of(50, 8), position_of(3, true)})),
             ContainsSubstring("position has 3 entries for [4, 8]"));
}

TEST_CASE("the first token is a view whose keeper keeps the whole sequence") {
  const Layer first = plain("first_token");
  const ExpandedModel model = expanded(over_tokens(4, {embedding_of(50, 8), first, linear(3)}));
  // ids 4 x 8, rows 4 x 8 x 4, log-softmax 3 x 4, target 8.
  CHECK(model.saved_bytes.per_sample == 32 + 128 + 12 + 8);
  CHECK_THAT(fault_of(over_tokens(4, {embedding_of(50, 8), first, first})),
             ContainsSubstring("first_token needs [sequence, width], not [8]"));
}

TEST_CASE("shift leaves the last row out of the loss") {
  const ExpandedModel model = expanded(over_tokens(4, {embedding_of(50, 8), linear(10), plain("shift")}));
  const ExpandedModel whole = expanded(over_tokens(3, {embedding_of(50, 8), linear(10)}));
  CHECK(model.forward.back().bytes.per_sample == whole.forward.back().bytes.per_sample);
  CHECK_THAT(fault_of(over_tokens(1, {embedding_of(50, 8), linear(10), plain("shift")})),
             ContainsSubstring("two rows or more"));
}

TEST_CASE("fused attention keeps nothing of the square of the length") {
  const auto kept = [](std::int64_t length, bool fused) {
    Layer attention = attention_of(2);
    set(attention, "fused", fused);
    return expanded(over_tokens(length, {embedding_of(50, 8), attention})).saved_bytes.per_sample;
  };
  CHECK(kept(64, true) == 2 * kept(32, true));
  CHECK(kept(64, false) > 2.5 * kept(32, false));
}

TEST_CASE("fused attention multiplies five times backward for twice forward, half of it when causal") {
  const auto model_with = [](bool fused, bool causal) {
    Layer attention = attention_of(2);
    set(attention, "fused", fused), set(attention, "causal", causal);
    return expanded(over_tokens(32, {embedding_of(50, 8), attention}));
  };
  const double one = 2 * 32 * 32 * 8;  // 2 s^2 h
  const ExpandedModel eager = model_with(false, false), fused = model_with(true, false),
                      causal = model_with(true, true);
  CHECK(backward_products_of(fused) - backward_products_of(eager) == one);
  CHECK(products_of(fused.forward) == products_of(eager.forward));
  CHECK(products_of(fused.forward) - products_of(causal.forward) == one);
  CHECK(backward_products_of(fused) - backward_products_of(causal) == 2.5 * one);
}

TEST_CASE("packed projections are one product with one bias, the module's adds it apart") {
  Layer packed = attention_of(2), module = attention_of(2);
  set_word(packed, "projection", "packed"), set_word(module, "projection", "module");
  const ExpandedModel one = expanded(over_tokens(4, {embedding_of(50, 8), packed}));
  REQUIRE(one.parameters.size() == 5);
  CHECK(one.parameters[1].elements == 3 * 8 * 8);
  CHECK(one.parameters[2].elements == 3 * 8);
  const ExpandedModel apart = expanded(over_tokens(4, {embedding_of(50, 8), module}));
  CHECK(one.forward_gemm_flops().per_sample - apart.forward_gemm_flops().per_sample == 3 * 4 * 8);
  CHECK(one.gradient_ready_order() == apart.gradient_ready_order());
}

TEST_CASE("attention over another result has its keys' length") {
  Layer decoder = plain("start"), cross = attention_of(2), memory = embedding_of(50, 8);
  set(decoder, "input", {3}), set(decoder, "tokens", true);
  memory.as = {"encoded"}, cross.with = {"encoded"};
  const ExpandedModel model = expanded(over_tokens(5, {memory, decoder, embedding_of(40, 8), cross}));
  // q 3 rows, k and v 5 rows, scores and context 3 x 5, output 3 rows; width 8.
  CHECK(products_of(model.forward) == 2 * (3 + 5 + 5 + 3) * 8 * 8 + 2 * 2 * 3 * 5 * 8);
  CHECK(model.input_elements == 8);
}

TEST_CASE("windows make the products of attention linear in the image") {
  const auto scores_of = [](std::int64_t side) {
    Model model;
    model.input = {8, side, side};
    Layer windowed = plain("window_attention");
    set(windowed, "heads", 2), set(windowed, "window", 4);
    model.layers = {plain("to_sequence"), windowed, plain("loss")};
    double flops = 0;
    for (const Operator& op : expanded(model).forward)
      flops += op.cls == OperatorClass::attention ? op.flops.per_sample : 0;
    return flops;
  };
  CHECK(scores_of(4) == 2 * 2 * 16 * 16 * 8);
  CHECK(scores_of(8) == 4 * scores_of(4));
}

TEST_CASE("windows that do not divide the image and images that are not square are mistakes") {
  const auto fault_with = [](std::vector<std::int64_t> input, std::int64_t window) {
    Model model;
    model.input = std::move(input);
    Layer windowed = plain("window_attention");
    set(windowed, "heads", 2), set(windowed, "window", window);
    model.layers = {plain("to_sequence"), windowed, plain("loss")};
    return fault_of(model);
  };
  CHECK_THAT(fault_with({8, 6, 6}, 4), ContainsSubstring("windows of 4 do not divide the side 6"));
  CHECK_THAT(fault_with({8, 4, 8}, 4), ContainsSubstring("square image, not [32, 8]"));
}

TEST_CASE("relative attention looks at memory and segment, and all layers share its two vectors") {
  Layer relative = plain("relative_attention");
  set(relative, "heads", 2), set(relative, "memory_length", 4);
  const ExpandedModel model = expanded(over_tokens(4, {embedding_of(50, 8), relative, relative}));
  // Table, two vectors, then qkv, distances and output of each layer.
  REQUIRE(model.parameters.size() == 1 + 2 + 2 * 3);
  const std::vector<std::uint32_t> order = model.gradient_ready_order();
  CHECK(order.size() == model.parameters.size());
  // The vectors are complete only when the first layer's gradients are, before its projections.
  CHECK(std::find(order.begin(), order.end(), 1) > std::find(order.begin(), order.end(), 6));
  CHECK(std::find(order.begin(), order.end(), 1) < std::find(order.begin(), order.end(), 3));
  double scores = 0;
  for (const Operator& op : model.forward)
    scores += op.cls == OperatorClass::attention ? op.flops.per_sample : 0;
  CHECK(scores == 2 * 3 * 2 * 4 * 8 * 8);  // two layers, three products of 2 q k h
}

TEST_CASE("additive attention scores every pair of a query and a key") {
  Layer decoder = plain("start"), additive = plain("additive_attention"), memory = embedding_of(50, 8);
  set(decoder, "input", {3}), set(decoder, "tokens", true);
  memory.as = {"encoded"}, additive.with = {"encoded"}, set(additive, "width", 6);
  const ExpandedModel model = expanded(over_tokens(5, {memory, decoder, embedding_of(40, 8), additive}));
  // Two tables, the query's and the key's projection, bias, score vector and scalar.
  CHECK(model.parameter_elements() == 50 * 8 + 40 * 8 + 2 * 8 * 6 + 6 + 6 + 1);
  CHECK(products_of(model.forward) == 2 * (3 + 5) * 8 * 6 + 2 * 3 * 5 * 6 + 2 * 3 * 5 * 8);
}

TEST_CASE("an adaptive softmax multiplies rare words for few rows only") {
  Layer words = plain("adaptive_embedding"), softmax = plain("adaptive_softmax");
  set(words, "out", 8), words.weights = softmax.weights = "words";
  for (Layer* layer : {&words, &softmax})
    set(*layer, "cutoffs", {20, 100}), set(*layer, "shares", {900, 100});
  Layer mean = plain("loss");
  const ExpandedModel model = expanded(over_tokens(50, {words, softmax}));
  CHECK(model.parameter_elements() == 100 * 8 + 1 * 8 + 1 + 100);
  CHECK(products_of(model.forward) == 2.0 * 50 * 21 * 8 + 2.0 * 5 * 80 * 8);
  set(softmax, "cutoffs", {100, 20});
  CHECK_THAT(fault_of(over_tokens(50, {words, softmax})),
             ContainsSubstring("cutoffs must be two or more and rise"));
}

TEST_CASE("pairs of features become their products behind the dense vector") {
  Layer interaction = plain("dot_interaction"), dense = linear(4), more = plain("start");
  Model model;
  dense.as = {"a"}, set(more, "input", {1}), set(more, "tokens", true), interaction.from = {"a", "b"};
  Layer table = embedding_of(10, 4);
  table.as = {"b"};
  model.input = {6}, model.layers = {dense, more, table, interaction, linear(1), plain("loss")};
  const ExpandedModel expanded_model = expanded(model);
  CHECK(expanded_model.parameters.back().elements == 1);
  CHECK(expanded_model.parameters[expanded_model.parameters.size() - 2].elements ==
        4 + 1);  // width 4 and one pair
  set(model.layers[2], "out", 5);
  CHECK_THAT(fault_of(model), ContainsSubstring("dot_interaction: one input is [4], another [1, 5]"));
}

TEST_CASE("a gated unit makes half the channels of its input") {
  Model model;
  model.input = {6, 1, 10};
  model.layers = {conv(6, 1, 1, 0, true), plain("gated_tanh"), plain("flatten"), linear(2), plain("loss")};
  CHECK(expanded(model).parameters[2].elements == 2 * 30);
  set(model.layers[0], "out", 5);
  CHECK_THAT(fault_of(model), ContainsSubstring("even number of channels, not [5, 1, 10]"));
}

TEST_CASE("scale and mask are one pass each way, the mask is made from the lengths first") {
  const auto operators_of = [](std::string_view type) {
    return expanded(over_tokens(4, {embedding_of(50, 8), plain(type), linear(3)})).forward;
  };
  CHECK(operators_of("scale")[1].flops.per_sample == 4 * 8);
  const std::vector<Operator> masked = operators_of("mask");
  CHECK(masked.size() == operators_of("scale").size() + 1);
  CHECK(masked[1].calls == 8);
}

TEST_CASE("samples that are parts of an input divide all that grows with the batch") {
  Model model = over_tokens(8, {embedding_of(50, 8), attention_of(2), linear(10)});
  const ExpandedModel whole = expanded(model);
  model.samples_per_input = 4;
  const ExpandedModel part = expanded(model);
  CHECK(4 * part.forward_flops().per_sample == whole.forward_flops().per_sample);
  CHECK(part.forward_flops().fixed == whole.forward_flops().fixed);
  CHECK(4 * part.backward_flops().per_sample == whole.backward_flops().per_sample);
  CHECK(4 * part.saved_bytes.per_sample == whole.saved_bytes.per_sample);
  CHECK(4 * products_of(part.forward) == products_of(whole.forward));
  CHECK(part.input_elements == 2);
  CHECK(part.parameter_elements() == whole.parameter_elements());
}

TEST_CASE("a mask is made of lengths, 16 bytes for each time step: rows of a sequence, columns of an image") {
  const ExpandedModel rows = expanded(over_tokens(12, {embedding_of(50, 8), plain("mask")}));
  CHECK(rows.forward[1].bytes.per_sample == 16 * 12);
  CHECK(expanded({2, 3, 7}, {plain("mask")}).forward[0].bytes.per_sample == 16 * 7);
}

}  // namespace sequence_layers_test
