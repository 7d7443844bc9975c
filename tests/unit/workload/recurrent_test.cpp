// LSTM and GRU: parameters, products of all inputs at once and of one state after the other, and loops of the
// script.
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/expanded_layers.hpp"

namespace recurrent_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr double s = 10, i = 6, h = 4;  // steps, input width, hidden width

Layer recurrent(std::string_view type) {
  Layer layer = plain(type);
  set(layer, "width", static_cast<std::int64_t>(h));
  return layer;
}

Model over_sequence(std::vector<Layer> layers) {
  Model model;
  model.input = {static_cast<std::int64_t>(s), static_cast<std::int64_t>(i)},
  model.layers = std::move(layers);
  model.layers.push_back(plain("loss"));
  return model;
}

ExpandedModel expanded_with(const Layer& layer) {
  return expanded(over_sequence({linear(static_cast<std::int64_t>(i)), layer}));
}

std::vector<std::int64_t> sizes_of(const ExpandedModel& model) {
  std::vector<std::int64_t> sizes;
  for (const Parameter& parameter : model.parameters) sizes.push_back(parameter.elements);
  return sizes;
}

/// The recurrent operators among those of the network: the first linear layer and the loss are left out.
std::vector<Operator> recurrent_operators(const std::vector<Operator>& all) {
  std::vector<Operator> found;
  for (const Operator& op : all) {
    if (op.call == HostCall::recurrent) found.push_back(op);
  }
  return found;
}

std::vector<Operator> backward_of(const ExpandedModel& model) {
  std::vector<Operator> all;
  for (const BackwardStep& step : model.backward) all.push_back(step.op);
  return recurrent_operators(all);
}

}  // namespace

TEST_CASE("an LSTM has four tensors for each layer and direction, later layers read both directions") {
  Layer layer = recurrent("lstm");
  set(layer, "layers", 2), set(layer, "bidirectional", true);
  // The linear layer's two; then weight_ih 4h i, weight_hh 4h h, two biases 4h, twice; then the same with 2h
  // for i.
  CHECK(sizes_of(expanded_with(layer)) ==
        std::vector<std::int64_t>{36, 6, 96, 64, 16, 16, 96, 64, 16, 16, 128, 64, 16, 16, 128, 64, 16, 16});
}

TEST_CASE("a GRU has three gates") {
  CHECK(sizes_of(expanded_with(recurrent("gru"))) == std::vector<std::int64_t>{36, 6, 72, 48, 12, 12});
}

TEST_CASE("all inputs are multiplied at once, states one after the other") {
  const std::vector<Operator> forward = recurrent_operators(expanded_with(recurrent("lstm")).forward);
  REQUIRE(forward.size() == 1);
  const Product &inputs = forward[0].products[0], &states = forward[0].products[1];
  CHECK(inputs.m == s);
  CHECK(inputs.serial == 1);
  CHECK(states.m == 1);
  CHECK(states.serial == s);
  CHECK(inputs.flops_per_sample() == 2 * s * 4 * h * i);
  CHECK(states.flops_per_sample() == 2 * s * 4 * h * h);
  CHECK(forward[0].kernels == 1 + 2 * s);
  CHECK(forward[0].calls == 1);
  // The recurrent weights are read at every step, the input's once.
  CHECK(states.bytes.fixed == s * 4 * 4 * h * h);
  CHECK(inputs.bytes.fixed == 4 * 4 * h * i);
}

TEST_CASE("backward makes the states' gradients step by step and the weights' at once") {
  const ExpandedModel model = expanded_with(recurrent("lstm"));
  const std::vector<Operator> backward = backward_of(model);
  REQUIRE(backward.size() == 2);
  CHECK(backward[0].products[0].serial == s);
  CHECK(backward[1].products[0].serial == 1);
  CHECK(backward[1].products[0].k == s);
  double products = 0;
  for (const Operator& op : backward)
    products += op.products[0].flops_per_sample() + op.products[1].flops_per_sample();
  CHECK(products == 2 * 2 * s * 4 * h * (i + h));
  CHECK(model.gradient_ready_order() == std::vector<std::uint32_t>{2, 3, 4, 5, 1, 0});
}

TEST_CASE("a loop of cells issues every product of every step and adds up its weights' gradients") {
  Layer cells = recurrent("lstm");
  cells.steps = static_cast<std::int64_t>(s);
  const ExpandedModel loop = expanded_with(cells), library = expanded_with(recurrent("lstm"));
  const Operator op = recurrent_operators(loop.forward)[0];
  CHECK(op.calls == s);
  CHECK(op.kernels == 3 * s);
  for (const Product& product : op.products) {
    CHECK(product.m == 1);
    CHECK(product.serial == s);
  }
  CHECK(loop.forward_flops().per_sample == library.forward_flops().per_sample);
  const double weights = 4 * h * (i + h + 2);
  CHECK(loop.backward_flops().fixed - library.backward_flops().fixed == (s - 1) * weights);
}

TEST_CASE("a loop has one step for each row, and one direction") {
  Layer cells = recurrent("lstm");
  cells.steps = 9;
  CHECK_THAT(expand(over_sequence({cells})).faults.at(0).message, ContainsSubstring("9 steps for [10, 6]"));
  CHECK_THAT(expand(over_sequence({plain("lstm")})).faults.at(0).message,
             ContainsSubstring("lstm needs width"));
}

TEST_CASE("other layers in a loop run their work row by row") {
  Layer stepwise = linear(3);
  stepwise.steps = static_cast<std::int64_t>(s);
  const ExpandedModel loop = expanded_with(stepwise), once = expanded_with(linear(3));
  const Operator& op = loop.forward[1];
  CHECK(op.calls == s);
  CHECK(op.products[0].m == 1);
  CHECK(op.products[0].serial == s);
  CHECK(op.flops.per_sample == once.forward[1].flops.per_sample);
  CHECK(op.bytes.fixed == s * once.forward[1].bytes.fixed);
}

TEST_CASE("attention in a decoder's loop projects its keys once and scores them at every step") {
  Layer memory = linear(5), frames = plain("start"), located = plain("location_attention");
  memory.as = {"encoded"}, located.with = {"encoded"};
  set(frames, "input", {8, 6});  // eight decoder steps of width six
  set(located, "width", 3), located.steps = 8;
  const ExpansionResult result = expand(over_sequence({memory, frames, linear(6), located}));
  REQUIRE(result.faults.empty());
  std::vector<Operator> products;
  for (const Operator& op : result.model.forward) {
    if (op.product_count > 0) products.push_back(op);
  }
  // Both linear layers once; query each step, key once; location, its projection, scores, context each step.
  REQUIRE(products.size() == 8);
  const std::vector<int> calls{1, 1, 8, 1, 8, 8, 8, 8};
  for (std::size_t n = 0; n < calls.size(); ++n) CHECK(products[n].calls == calls[n]);
  const Product& context = products.back().products[0];
  CHECK(context.m == 1);
  CHECK(context.serial == 8);
  CHECK(context.flops_per_sample() == 2 * 8 * s * 5);
}

}  // namespace recurrent_test
