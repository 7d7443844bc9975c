// Whole recordings: the same step as layer by layer, frozen and unused parameters, measured times, one batch
// alone.
#include <set>

#include "sim/scenario/toml/reader.hpp"
#include "sim/workload/device/host_time.hpp"
#include "sim/workload/device/kernel_time.hpp"
#include "sim/workload/device/memory.hpp"
#include "sim/workload/tape/lifetimes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recorded_text.hpp"

namespace expand_recorded_test {

using namespace foretrain;
using test::expanded_text;
using test::recorded_text;

namespace {

const std::string kOneWeight = "{ name = \"fc.weight\", size = \"f32[8,8]\" },\n";

std::string product(const std::string& more) {
  return "{ op = \"aten::mm\", in = [\"f32[B,8]\", \"f32[8,8]\"], out = [\"f32[B,8]\"]" + more + " },\n";
}

void check_same(const Operator& recorded, const Operator& layer) {
  CHECK(recorded.cls == layer.cls);
  CHECK(recorded.call == layer.call);
  CHECK(recorded.kernels == layer.kernels);
  CHECK(recorded.calls == layer.calls);
  CHECK(recorded.half_capable == layer.half_capable);
  CHECK(recorded.flops.at(4) == layer.flops.at(4));
  CHECK(recorded.bytes.at(4) == Approx(layer.bytes.at(4)).margin(8));
  REQUIRE(recorded.product_count == layer.product_count);
  for (std::size_t i = 0; i < layer.product_count; ++i) {
    const Product &a = recorded.products[i], &b = layer.products[i];
    CHECK(a.m == b.m);
    CHECK(a.n == b.n);
    CHECK(a.k == b.k);
    CHECK(a.grows == b.grows);
    CHECK(a.window == b.window);
    CHECK(a.bytes.at(4) == b.bytes.at(4));
  }
}

}  // namespace

TEST_CASE("a recording becomes the operators that its layers become") {
  const ExpandedModel recorded = expanded_text(test::small_network_recorded()),
                      layers = expanded_text(test::small_network_layers());
  REQUIRE(recorded.forward.size() == layers.forward.size());
  REQUIRE(recorded.backward.size() == layers.backward.size());
  for (std::size_t i = 0; i < layers.forward.size(); ++i) {
    INFO("forward " << i);
    check_same(recorded.forward[i], layers.forward[i]);
  }
  for (std::size_t i = 0; i < layers.backward.size(); ++i) {
    INFO("backward " << i);
    check_same(recorded.backward[i].op, layers.backward[i].op);
    CHECK(recorded.backward[i].ready == layers.backward[i].ready);
  }
}

TEST_CASE("a recording keeps what its layers keep and has their parameters and buffers") {
  const ExpandedModel recorded = expanded_text(test::small_network_recorded()),
                      layers = expanded_text(test::small_network_layers());
  // Of the dropped elements a GPU keeps a mask of bytes, where the table of layers counts four.
  CHECK(recorded.saved_bytes.per_sample == layers.saved_bytes.per_sample - 3 * 256);
  CHECK(recorded.saved_bytes.fixed == layers.saved_bytes.fixed);
  CHECK(recorded.parameter_elements() == layers.parameter_elements());
  CHECK(recorded.gradient_ready_order() == layers.gradient_ready_order());
  CHECK(recorded.buffers.size() == layers.buffers.size());
  CHECK(recorded.buffers[2].element_bytes == 8);
  CHECK(recorded.input_elements == layers.input_elements);
  CHECK(recorded.modules == 7);
  CHECK(recorded.layer_names[0] == "conv");
  CHECK(recorded.layer_traces[0].result == Shape::image(16, 8, 8));
}

TEST_CASE("the gradients of parameters are no activations of a recording") {
  const ExpandedModel recorded = expanded_text(test::small_network_recorded());
  CHECK(recorded.lifetimes.parameter_gradients.size() == 5);
  for (const Lifetime& life : recorded.lifetimes.activations) {
    CHECK(life.until < recorded.lifetimes.moments);
    CHECK(life.from <= life.until);
    CHECK(life.bytes.fixed != 4 * 2560);  // the weights of the linear layer
  }
}

TEST_CASE("a recording's peak of memory is near that of its layers") {
  const ExpandedModel recorded = expanded_text(test::small_network_recorded()),
                      layers = expanded_text(test::small_network_layers());
  for (const ActivationWidth width : {ActivationWidth::full, ActivationWidth::half}) {
    const double a = peak_bytes(recorded.lifetimes, 64, width, GradientTensors::kept),
                 b = peak_bytes(layers.lifetimes, 64, width, GradientTensors::kept);
    CHECK(a == Approx(b).epsilon(0.25));
  }
}

TEST_CASE("frozen parameters get no gradient and still take memory") {
  const std::string text = recorded_text(
      "{ name = \"a\", size = \"f32[8,8]\", frozen = true },\n{ name = \"b\", size = \"f32[8,8]\" },\n",
      product("") + product(", pass = \"backward\", ready = [1, 0]"));
  const ExpandedModel model = expanded_text(text);
  CHECK(model.parameters.size() == 1);
  CHECK(model.frozen.size() == 1);
  CHECK(model.frozen_elements() == 64);
  CHECK(model.gradient_ready_order() == std::vector<std::uint32_t>{0});
  Workload workload;
  workload.model = std::make_shared<const ExpandedModel>(model);
  const MemoryUse use = memory_use(workload, {});
  CHECK(use.parameters == Bytes{2 * 4 * 64});
  CHECK(use.gradients == Bytes{4 * 64});
}

TEST_CASE("a parameter that is ready twice is ready with the last") {
  const ExpandedModel model = expanded_text(
      recorded_text(kOneWeight, product("") + product(", pass = \"backward\", ready = [0], node = \"A\"") +
                                    product(", pass = \"backward\", ready = [0], node = \"B\"")));
  REQUIRE(model.backward.size() == 2);
  CHECK(model.backward[0].ready.empty());
  CHECK(model.backward[1].ready == std::vector<std::uint32_t>{0});
}

TEST_CASE("parameters without a gradient are ready when backward begins and are counted") {
  const ExpandedModel model =
      expanded_text(recorded_text(kOneWeight, product("") + product(", pass = \"backward\"")));
  CHECK(model.recording->without_gradient == 1);
  CHECK(model.backward[0].ready == std::vector<std::uint32_t>{0});
}

TEST_CASE("what checkpointing computes again runs in backward as forward work") {
  const ExpandedModel model = expanded_text(
      recorded_text(kOneWeight, product("") + product(", pass = \"backward\", node = \"A\", ready = [0]") +
                                    "{ op = \"aten::gelu\", pass = \"backward\", recomputed = true, in = "
                                    "[\"f32[B,8]\"], out = [\"f32[B,8]\"] "
                                    "},\n"));
  REQUIRE(model.backward.size() == 2);
  CHECK_FALSE(model.backward[1].op.backward);
  CHECK(model.backward[1].op.call == HostCall::gelu);
}

TEST_CASE("a further gradient is added before the parameters of what brought it are handed on") {
  const ExpandedModel model = expanded_text(recorded_text(
      kOneWeight, product("") + product(", pass = \"backward\", of = \"fc\", node = \"A\", ready = [0]") +
                      "{ op = \"aten::add\", pass = \"backward\", in = [\"f32[B,8]\", \"f32[B,8]\"], out = "
                      "[\"f32[B,8]\"] },\n"));
  REQUIRE(model.backward.size() == 2);
  CHECK(model.backward[0].ready.empty());
  CHECK(model.backward[1].ready == std::vector<std::uint32_t>{0});
  CHECK(model.backward[1].op.layer == model.backward[0].op.layer);
}

TEST_CASE("dropout in parts as a CPU runs it is one operator") {
  const ExpandedModel model = expanded_text(recorded_text(
      kOneWeight,
      "{ op = \"aten::empty_like\", call = 1, in = [\"f32[B,8]\"], out = [\"f32[B,8]\"] },\n"
      "{ op = \"aten::bernoulli_\", call = 1, in = [\"f32[B,8]\"], out = [\"f32[B,8]\"] },\n"
      "{ op = \"aten::div_\", call = 1, in = [\"f32[B,8]\"], out = [\"f32[B,8]\"] },\n"
      "{ op = \"aten::mul\", call = 1, in = [\"f32[B,8]\", \"f32[B,8]\"], out = [\"f32[B,8]\"] },\n" +
          product(", pass = \"backward\", ready = [0]"),
      "{ size = \"f32[B,8]\", made = 0, freed = 4, saved = true },\n"));
  REQUIRE(model.forward.size() == 1);
  CHECK(model.forward[0].call == HostCall::dropout);
  CHECK(model.forward[0].flops.per_sample == 3 * 8);
  CHECK(model.forward[0].bytes.per_sample == 9 * 8);
  CHECK(model.forward[0].kernels == 1);
}

TEST_CASE("an activation in place and the copy it keeps are one call with two kernels") {
  const ExpandedModel model = expanded_text(
      recorded_text(kOneWeight,
                    "{ op = \"aten::clone\", call = 1, in = [\"f32[B,8]\"], out = [\"f32[B,8]\"] },\n"
                    "{ op = \"aten::hardtanh_\", call = 1, in = [\"f32[B,8]\"], out = [\"f32[B,8]\"] },\n" +
                        product(", pass = \"backward\", ready = [0]")));
  REQUIRE(model.forward.size() == 1);
  CHECK(model.forward[0].call == HostCall::activation);
  CHECK(model.forward[0].kernels == 2);
  CHECK(model.forward[0].bytes.per_sample == 16 * 8);
}

TEST_CASE("casts that a recording shows are left to the precision and other copies stay") {
  const std::string cast =
      "{ op = \"aten::_to_copy\", autocast = true, in = [\"f32[B,8]\"], out = [\"f16[B,8]\"] },\n";
  const std::string copy = "{ op = \"aten::clone\", in = [\"f32[B,8]\"], out = [\"f32[B,8]\"] },\n";
  const std::string backward = product(", pass = \"backward\", ready = [0]");
  CHECK(expanded_text(recorded_text(kOneWeight, cast + copy + backward)).forward.size() == 1);
  const std::string plain = "{ op = \"aten::_to_copy\", in = [\"f32[B,8]\"], out = [\"f16[B,8]\"] },\n";
  CHECK(expanded_text(recorded_text(kOneWeight, plain + copy + backward)).forward.size() == 2);
}

TEST_CASE("sizes of one batch alone are exact there and in proportion elsewhere") {
  const std::string text = recorded_text(
      kOneWeight,
      "{ op = \"aten::mm\", in = [\"f32[20,8]\", \"f32[8,8]\"], out = [\"f32[20,8]\"] },\n"
      "{ op = \"aten::mm\", pass = \"backward\", in = [\"f32[8,20]\", \"f32[20,8]\"], out = [\"f32[8,8]\"], "
      "ready = [0] },\n",
      "{ size = \"f32[20,8]\", made = 0, freed = 1, saved = true },\n", "batch = 4\n");
  const ExpandedModel model = expanded_text(text);
  CHECK_FALSE(model.recording->grows);
  CHECK(model.forward[0].flops.at(4) == 2 * 20 * 8 * 8);
  CHECK(model.forward[0].flops.at(8) == 2 * 40 * 8 * 8);
  CHECK(model.forward[0].bytes.fixed == 4 * 64);
  CHECK(model.forward[0].products[0].m == 5);
  CHECK(model.saved_bytes.per_sample == 4 * 40);
}

TEST_CASE("a measured kernel takes its time where it was measured and scales with the model elsewhere") {
  const std::string text = recorded_text(
      kOneWeight,
      "{ op = \"aten::relu\", in = [\"f32[B,1000000]\"], out = [\"f32[B,1000000]\"], time = \"300 us\" },\n"
      "{ op = \"mine::magic\", time = \"200 us\", host = \"70 us\" },\n" +
          product(", pass = \"backward\", ready = [0]"),
      "", "batch = 4\ngrows = true\ngpu = \"NVIDIA A100-SXM4-40GB\"\n");
  const ExpandedModel model = expanded_text(text);
  CHECK(model.recording->measured_launches == 2);
  Gpu gpu;
  for (const char* name : {"a100-sxm4-40gb", "v100-sxm2-16gb"}) {
    const SourceText source =
        read_text_file(std::string(FORETRAIN_SOURCE_DIR) + "/topologies/gpus/" + name + ".toml");
    Diagnostics diagnostics(source);
    gpu = read_gpu(source, diagnostics);
    const KernelCalibration calibration = default_kernel_calibration(gpu);
    const KernelContext context{gpu, calibration};
    const double relu = kernel_seconds(model.forward[0], context, 4),
                 magic = kernel_seconds(model.forward[1], context, 4);
    if (std::string(name) == "a100-sxm4-40gb") {
      CHECK(relu == Approx(300e-6));
      CHECK(magic == Approx(200e-6));
      CHECK(kernel_seconds(model.forward[1], context, 8) == Approx(400e-6).epsilon(0.05));
    } else {
      CHECK(relu > 400e-6);
      CHECK(magic > 250e-6);
    }
  }
  CHECK(host_reference(model.forward[1], HostCalibration{}, Precision::fp32, Framework{}) ==
        microseconds(70));
}

TEST_CASE("an operand is the last storage of its size that still lives, not one that is gone") {
  // The product's result is 16 bits under autocast, the power's 32; only the product's lives when ReLU runs.
  const std::string text = recorded_text(
      kOneWeight,
      product("") + "{ op = \"aten::pow\", in = [\"f32[B,8]\"], out = [\"f32[B,8]\"] },\n" +
          "{ op = \"aten::relu\", in = [\"f32[B,8]\"], out = [\"f32[B,8]\"] },\n" +
          product(", pass = \"backward\", ready = [0]"),
      "{ size = \"f32[B,8]\", made = 0, freed = 3 },\n{ size = \"f32[B,8]\", made = 1, freed = 1 },\n"
      "{ size = \"f32[B,8]\", made = 2, freed = 3 },\n");
  const ExpandedModel model = expanded_text(text);
  REQUIRE(model.forward.size() == 3);
  const auto of_relu = std::ranges::find(model.lifetimes.activations, 2U, &Lifetime::from);
  REQUIRE(of_relu != model.lifetimes.activations.end());
  CHECK(of_relu->at(4, ActivationWidth::autocast) == 2 * 4 * 8);
}

}  // namespace expand_recorded_test
