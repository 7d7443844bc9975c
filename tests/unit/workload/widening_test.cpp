// Networks of another width: shapes stay valid, ends stay, parameters grow with the square.
#include "sim/workload/layers/widening.hpp"

#include "sim/workload/lowering/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace widening_test {

using namespace foretrain;

namespace {

std::int64_t parameters(const Model& model) {
  const ExpansionResult expansion = expand(model);
  INFO(model.name << (expansion.faults.empty() ? "" : ": " + expansion.faults.front().message));
  REQUIRE(expansion.faults.empty());
  return expansion.model.parameter_elements();
}

Model network(std::vector<std::int64_t> input, std::vector<Layer> layers) {
  Model model;
  model.name = "small", model.input = std::move(input), model.layers = std::move(layers);
  model.layers.push_back(test::plain("loss"));
  return model;
}

Layer grouped(Layer conv, std::int64_t groups) {
  test::set(conv, "groups", groups);
  return conv;
}

}  // namespace

TEST_CASE("between two inner layers a factor counts twice, at the ends once") {
  // 8 -> 64 -> 64 -> 10 with biases: 8*64+64, 64*64+64, 64*10+10.
  const Model model = network({8}, {test::linear(64), test::linear(64), test::linear(10)});
  REQUIRE(parameters(model) == 576 + 4160 + 650);
  // Twice as wide: 8*128+128, 128*128+128, 128*10+10.
  CHECK(parameters(widened(model, 2)) == 1152 + 16'512 + 1290);
  CHECK(parameters(widened(model, 0.5)) == 288 + 1056 + 330);
}

TEST_CASE("a factor of one changes nothing") {
  for (const Model& model : {test::mnist_net(), test::resnet18(), test::resnet50(), test::vgg16(),
                             test::encoder(2, 64, 128, 4, 1000)})
    CHECK(parameters(widened(model, 1)) == parameters(model));
}

TEST_CASE("large networks have about four times the parameters when twice as wide") {
  for (const Model& model : {test::resnet18(), test::resnet50(), test::vgg16()}) {
    const double growth =
        static_cast<double>(parameters(widened(model, 2))) / static_cast<double>(parameters(model));
    INFO(model.name);
    CHECK(growth > 3.3);
    CHECK(growth <= 4);
  }
}

TEST_CASE("every factor gives a valid network, and a larger one never fewer parameters") {
  for (const Model& model : {test::resnet50(), test::encoder(2, 64, 128, 4, 1000)}) {
    std::int64_t before = 0;
    for (int eighths = 1; eighths <= 32; ++eighths) {
      const std::int64_t now = parameters(widened(model, eighths / 8.0));
      CHECK(now >= before);
      before = now;
    }
  }
}

TEST_CASE("depthwise convolutions stay depthwise, other groups stay as many") {
  const Model depthwise =
      network({3, 8, 8}, {test::conv(16, 1, 1, 0, false), grouped(test::conv(16, 3, 1, 1, false), 16),
                          test::plain("flatten"), test::linear(10)});
  const Model wide = widened(depthwise, 3);
  CHECK(test::number_of(wide.layers[1], "out") == 48);
  CHECK(test::number_of(wide.layers[1], "groups") == 48);
  // 3*48, 48*9, 48*64*10+10.
  CHECK(parameters(wide) == 144 + 432 + 30'730);

  const Model groups =
      network({3, 8, 8}, {test::conv(48, 1, 1, 0, false), grouped(test::conv(96, 3, 1, 1, false), 12),
                          test::plain("flatten"), test::linear(10)});
  const Model odd = widened(groups, 1.3);
  CHECK(test::number_of(odd.layers[1], "groups") == 12);
  CHECK(test::number_of(odd.layers[1], "out") % 12 == 0);
  CHECK(parameters(odd) > parameters(groups));
}

TEST_CASE("heads stay as many and divide the width") {
  const Model wide = widened(test::encoder(1, 16, 96, 12, 100), 1.4);
  CHECK(parameters(wide) > 0);
  CHECK(test::number_of(wide.layers.front(), "entries") == 100);
  CHECK(test::number_of(wide.layers.front(), "out") % 12 == 0);
  CHECK(test::number_of(wide.layers.front(), "out") == 144);  // 134.4, in steps of 24 = lcm(8, 12)
}

TEST_CASE("what a loss sees keeps its size, through activations and joins") {
  const Model model = network(
      {8}, {test::linear(32), test::relu(false),
            test::add({test::linear(10)}, {test::linear(64), test::linear(10)}), test::plain("softmax")});
  const Model wide = widened(model, 2);
  CHECK(test::number_of(wide.layers[0], "out") == 64);
  CHECK(test::number_of(wide.layers[2].branches[0][0], "out") == 10);
  CHECK(test::number_of(wide.layers[2].branches[1][0], "out") == 128);
  CHECK(test::number_of(wide.layers[2].branches[1][1], "out") == 10);
}

TEST_CASE("named results are followed to the layers that made them") {
  Model model = network({8}, {test::linear(32), test::linear(16), test::linear(16)});
  model.layers[1].as = {"seen"};
  model.layers.back().from = {"seen"};
  const Model wide = widened(model, 2);
  CHECK(test::number_of(wide.layers[0], "out") == 64);
  CHECK(test::number_of(wide.layers[1], "out") == 16);
}

TEST_CASE("tied weights stay tied") {
  Model model = network({16}, {test::embedding(1000, 64), test::linear(64), test::linear(1000, false)});
  model.input_is_tokens = true;
  model.layers[0].weights = model.layers[2].weights = "words";
  const Model wide = widened(model, 2);
  CHECK(test::number_of(wide.layers[0], "entries") == 1000);
  CHECK(test::number_of(wide.layers[0], "out") == 128);
  CHECK(test::number_of(wide.layers[2], "out") == 1000);
  CHECK(parameters(wide) == 128'000 + 128 * 128 + 128);
}

TEST_CASE("parameters registered ahead of their layer follow it") {
  Layer words = test::embedding(1000, 64), position = test::plain("position"),
        registered = test::plain("parameter");
  test::set(position, "entries", 16), position.weights = registered.weights = "positions",
                                      test::set(registered, "out", 16 * 64);
  Model model = network({16}, {words, registered, position, test::linear(10)});
  model.input_is_tokens = true;
  CHECK(test::number_of(widened(model, 2).layers[1], "out") == 16 * 128);
  CHECK(parameters(widened(model, 2)) == 128'000 + 2048 + 1290);
  model.layers[1].weights = "nobody's";
  CHECK_THAT(why_not_widened(model), ContainsSubstring("a layer of type parameter"));
}

TEST_CASE("a network with sizes that are no widths has no wider sister, and the layer is named") {
  Layer slice = test::plain("slice");
  test::set(slice, "out", 4);
  const Model model = network({8}, {test::linear(8), slice, test::linear(10)});
  CHECK_THAT(why_not_widened(model), ContainsSubstring("a layer of type slice"));
  CHECK(why_not_widened(test::resnet18()).empty());
}

}  // namespace widening_test
