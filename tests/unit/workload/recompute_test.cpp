// Activation checkpointing: which operators run once more, and what is kept meanwhile.
#include "sim/workload/tape/recompute.hpp"

#include <algorithm>
#include <numeric>

#include "sim/scenario/scenario.hpp"
#include "sim/workload/tape/tape.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace recompute_test {

using namespace foretrain;

namespace {

constexpr double kMiB = 1 << 20;

/// `blocks` blocks of `layers` layers, each with a tensor of 4 MiB that it keeps as its input.
ExpandedModel chain(int blocks, int layers) {
  Tape tape("t");
  const Shape shape = Shape::features(1 << 20);
  TensorId x = tape.input(shape);
  for (int block = 0; block < blocks; ++block) {
    for (int layer = 0; layer < layers; ++layer) {
      tape.begin_layer("layers." + std::to_string(block) + "." + std::to_string(layer));
      const TensorId made = tape.result(shape, {x}, block == 0 && layer == 0);
      const Operator op = make_operator(OperatorClass::gemm, HostCall::linear, {0, 7}, {});
      tape.forward(op);
      tape.save(x);
      std::vector<std::uint32_t> ready;
      if (block == 0 && layer == 0) ready.push_back(tape.parameter("weight", 1));
      tape.node({{op, std::move(ready)}}, {x}, made);
      x = made;
    }
  }
  return std::move(tape).finish();
}

/// Of what forward made: what is there when backward begins.
double kept_bytes(const ExpandedModel& model) {
  double sum = 0;
  const auto forward = static_cast<std::uint32_t>(model.forward.size());
  for (const Lifetime& life : model.lifetimes.activations)
    if (life.from < forward && life.until >= forward) sum += life.at(1, ActivationWidth::full);
  return sum / kMiB;
}

double peak(const ExpandedModel& model) {
  return peak_bytes(model.lifetimes, 1, ActivationWidth::full, GradientTensors::kept) / kMiB;
}

ExpandedModel language_model(const std::string& name) {
  test::use_source_catalogs();
  ScenarioOverrides overrides;
  overrides.model = name, overrides.cluster = "mahti";
  return *make_scenario(overrides).workload.model;
}

}  // namespace

TEST_CASE("before the backward of a block its forward stands once more, the last block's first") {
  const ExpandedModel model = with_recomputed_blocks(chain(2, 3));
  std::vector<std::string> order;
  for (const BackwardStep& step : model.backward) order.push_back(model.layer_names[step.op.layer]);
  CHECK(order == std::vector<std::string>{"layers.1.0", "layers.1.1", "layers.1.2", "layers.1.2",
                                          "layers.1.1", "layers.1.0", "layers.0.0", "layers.0.1",
                                          "layers.0.2", "layers.0.2", "layers.0.1", "layers.0.0"});
  CHECK(model.lifetimes.moments == 6 + 12);
  CHECK(model.backward.back().ready.size() == 1);
}

TEST_CASE("of each block only what goes in is kept until backward") {
  const ExpandedModel plain = chain(4, 5), again = with_recomputed_blocks(plain);
  // The batch and 19 results that a layer keeps as its input; the last result is nobody's input.
  CHECK(kept_bytes(plain) == 20 * 4);
  // The batch and the inputs of three blocks.
  CHECK(kept_bytes(again) == 4 * 4);
  // One block's other inputs and results come back, four of them and the gradients of two, at most.
  CHECK(peak(again) <= (4 + 5 + 2) * 4);
  CHECK(peak(again) < peak(plain));
}

TEST_CASE("law: the FLOPs of backward grow by those of the blocks, and forward stays") {
  for (const std::string name : {"gpt2", "llama3_2_1b", "mixtral_8x7b", "bert_base_s128", "vit_b_16"}) {
    INFO(name);
    const ExpandedModel plain = language_model(name), again = with_recomputed_blocks(plain);
    const std::vector<std::uint32_t> blocks = numbered_blocks(plain);
    double of_blocks = 0;
    for (const Operator& op : plain.forward) of_blocks += blocks[op.layer] > 0 ? op.flops.at(1) : 0;
    REQUIRE(of_blocks > 0);
    CHECK(again.backward_flops().at(1) == Approx(plain.backward_flops().at(1) + of_blocks));
    CHECK(again.forward_flops().at(1) == plain.forward_flops().at(1));
    CHECK(again.gradient_ready_order() == plain.gradient_ready_order());
    CHECK(peak(again) < peak(plain));
  }
}

TEST_CASE("a network without numbered blocks stays as it is, and the key is said to do nothing") {
  const ExpandedModel plain = language_model("mnist_net"), again = with_recomputed_blocks(plain);
  CHECK(again.backward.size() == plain.backward.size());
  CHECK(peak(again) == peak(plain));
  ScenarioOverrides overrides;
  overrides.model = "mnist_net", overrides.cluster = "mahti", overrides.settings = {"model.recompute=true"};
  const std::vector<std::string> warnings = make_scenario(overrides).warnings;
  CHECK(std::ranges::any_of(warnings, [](const std::string& warning) {
    return warning.find("without numbered blocks") != std::string::npos;
  }));
}

TEST_CASE("blocks are told by the first number in their path, whatever stands before it") {
  ExpandedModel model;
  model.layer_names = {
      "conv1",           "encoder.layers.0.fc1", "encoder.layers.0.experts.3.fc", "encoder.layers.1.fc1",
      "encoder.norm",    "decoder.layers.0.fc1", "stage2.block.4.dense",          "22.cv2.0.conv",
      "encoder.layers.7"};
  CHECK(numbered_blocks(model) == std::vector<std::uint32_t>{0, 1, 1, 2, 0, 3, 4, 5, 0});
}

TEST_CASE("an encoder and a decoder are recomputed block by block") {
  const ExpandedModel plain = language_model("whisper_tiny"), again = with_recomputed_blocks(plain);
  const std::vector<std::uint32_t> blocks = numbered_blocks(plain);
  CHECK(*std::max_element(blocks.begin(), blocks.end()) == 4 + 4);
  CHECK(kept_bytes(again) < 0.7 * kept_bytes(plain));
  CHECK(again.backward_flops().at(1) - plain.backward_flops().at(1) > 0.4 * plain.forward_flops().at(1));
}

}  // namespace recompute_test
