// A network's layers and what they add up to.
#include "sim/analysis/step/model_summary.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace model_summary_test {

using namespace foretrain;

namespace {

/// 4x4 images of 3 channels, a 3x3 convolution to 8 channels, ten classes.
Scenario tiny(std::int64_t batch) {
  Model model;
  model.name = "tiny", model.input = {3, 4, 4};
  model.layers = {test::conv(8, 3, 1, 1, true), test::relu(false), test::plain("flatten"), test::linear(10),
                  test::plain("loss")};
  Scenario scenario = test::scenario_of(model, test::star_cluster(1, {12.3e9}), {1});
  scenario.workload.batch_per_gpu = batch;
  return scenario;
}

}  // namespace

TEST_CASE("layers have their result, parameters, FLOPs and kind") {
  const ModelSummary s = summarize_model(tiny(4), false);
  REQUIRE(s.layers.size() == 5);
  CHECK(s.input == "[3, 4, 4]");
  CHECK(s.batch == 4);
  CHECK(s.layers[0].kind == OperatorClass::conv);
  CHECK(to_string(s.layers[0].result) == "[8, 4, 4]");
  CHECK(s.layers[0].parameters == 8 * 3 * 3 * 3 + 8);
  CHECK(s.layers[0].flops == Approx(2 * 128 * 27 + 128));  // 128 outputs of 27 products each, and a bias
  CHECK(s.layers[1].kind == OperatorClass::elementwise);
  CHECK_FALSE(s.layers[2].kind.has_value());
  CHECK(to_string(s.layers[2].result) == "[128]");
  CHECK(s.layers[3].parameters == 1290);
  CHECK_FALSE(s.times.has_value());
}

TEST_CASE("bytes of a sample share the weights with the batch") {
  // Weights and bias once, 48 inputs and 128 outputs for each sample, 4 bytes each.
  CHECK(summarize_model(tiny(1), false).layers[0].bytes == Approx(4 * (224 + 176)));
  CHECK(summarize_model(tiny(4), false).layers[0].bytes == Approx(4 * (224 / 4.0 + 176)));
  const LayerSummary layer = summarize_model(tiny(4), false).layers[0];
  CHECK(layer.intensity() == Approx(layer.flops / layer.bytes));
}

TEST_CASE("16 bit halves what the operators that run in it move") {
  Scenario scenario = tiny(4);
  const double wide = summarize_model(scenario, false).layers[0].bytes;
  scenario.workload.precision = Precision::amp_fp16;
  CHECK(summarize_model(scenario, false).layers[0].bytes == Approx(wide / 2));
}

TEST_CASE("totals are the sums over the layers and the model's own") {
  const Scenario scenario = test::resnet_scenario();
  const ExpandedModel& model = *scenario.workload.model;
  const ModelSummary s = summarize_model(scenario, false);
  CHECK(s.totals.parameters == model.parameter_elements());
  CHECK(s.totals.tensors == static_cast<std::int64_t>(model.parameters.size()));
  double flops = 0, saved = 0;
  std::int64_t parameters = 0;
  for (const LayerSummary& layer : s.layers)
    flops += layer.flops, saved += layer.saved_bytes, parameters += layer.parameters;
  CHECK(parameters == s.totals.parameters);
  CHECK(flops == Approx(s.totals.forward_flops));
  CHECK(saved == Approx(model.saved_bytes.at(32) / 32));
  CHECK(s.totals.kernels() ==
        s.totals.forward_kernels + s.totals.backward_kernels + s.totals.optimizer_kernels);
  CHECK(s.totals.memory.total() == memory_use(scenario.workload, {}).total());
}

TEST_CASE("activations of a sample are what a larger batch adds, whatever the optimizer holds") {
  Scenario scenario = test::resnet_scenario();
  const Bytes plain = summarize_model(scenario, false).totals.activations_fp32;
  CHECK(plain.count > 0);
  CHECK(summarize_model(scenario, false).totals.activations_16_bit < plain);
  scenario.workload.optimizer.kind = OptimizerKind::adam;
  CHECK(summarize_model(scenario, false).totals.activations_fp32 == plain);
}

TEST_CASE("groups cover all layers") {
  const ModelSummary s = summarize_model(test::resnet_scenario(), false);
  std::size_t rows = 0;
  for (const RowGroup& group : s.groups) rows += group.length * group.count;
  CHECK(rows == s.layers.size());
}

TEST_CASE("on a GPU the classes add up to the kernels of a step, and the slowest layers stand first") {
  const ModelSummary s = summarize_model(test::resnet_scenario(), true);
  REQUIRE(s.times.has_value());
  Time classes{}, layers{};
  int kernels = 0;
  for (const ClassTime& time : s.times->classes) classes += time.time, kernels += time.kernels;
  for (const LayerSummary& layer : s.layers) layers += layer.time();
  CHECK(classes == s.times->total);
  CHECK(kernels == s.totals.kernels());
  CHECK(layers < s.times->total);  // the optimizer's kernels belong to no layer
  REQUIRE(s.times->slowest.size() == kSlowestLayers);
  for (std::size_t i = 1; i < kSlowestLayers; ++i)
    CHECK(s.times->slowest[i - 1].time >= s.times->slowest[i].time);
  CHECK(s.times->classes.front().time >= s.times->classes.back().time);
}

}  // namespace model_summary_test
