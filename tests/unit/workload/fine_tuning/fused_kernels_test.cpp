// Fused kernels keep less for backward than the operators they replace, and compute the same.
#include "sim/workload/fine_tuning/fused_kernels.hpp"

#include <fmt/format.h>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/workload/tape/recompute.hpp"
#include "tests/support/catch.hpp"

namespace fused_kernels_test {

using namespace foretrain;
using Catch::Matchers::ContainsSubstring;

namespace {

ExpandedModel fused(const std::string& model, FusedKernels kernels, std::int64_t tokens,
                    WeightFormat weights = WeightFormat::bf16) {
  Model network = read_or_throw(*open_named(CatalogKind::models, model), read_model);
  network.tuning.fused = kernels, network.tuning.weights = weights;
  network.input = {tokens};
  ExpansionResult result = expand(network);
  for (const ModelFault& fault : result.faults) FAIL(fault.message);
  return std::move(result.model);
}

double peak(const ExpandedModel& model) {
  return peak_bytes(model.lifetimes, 1, ActivationWidth::half, GradientTensors::kept);
}

double forward_kernels(const ExpandedModel& model) {
  double sum = 0;
  for (const Operator& op : model.forward) sum += op.kernels;
  return sum;
}

Scenario tuned_scenario(const std::string& strategy, std::vector<std::string> settings) {
  settings.insert(settings.end(), {"model.weights=\"bf16\"", "model.sequence_length=2048"});
  return make_scenario({.model = "llama3_2_1b",
                        .cluster = "dgx-a100-80gb",
                        .strategy = strategy,
                        .gpus = {4},
                        .settings = settings});
}

}  // namespace

TEST_CASE("every fused kernel keeps less and launches fewer kernels") {
  const struct {
    const char* model;
    FusedKernel kernel;
  } cases[] = {{"llama3_2_1b", FusedKernel::rms_norm},
               {"llama3_2_1b", FusedKernel::swiglu},
               {"llama3_2_1b", FusedKernel::flash_attention},
               {"phi_2", FusedKernel::gelu}};
  for (const auto& one : cases) {
    INFO(one.model << " " << to_string(FusedKernels{one.kernel}));
    const ExpandedModel plain = fused(one.model, {}, 1024), with = fused(one.model, {one.kernel}, 1024);
    CHECK(peak(with) < peak(plain));
    CHECK(forward_kernels(with) < forward_kernels(plain));
    CHECK(with.parameter_elements() == plain.parameter_elements());
  }
}

TEST_CASE("the activated gate is what a fused gate does not keep") {
  // 16 layers, 8192 features of 2 bytes.
  const double tokens = 1024, gates = 16 * 8192 * 2 * tokens;
  const double saved =
      peak(fused("llama3_2_1b", {}, 1024)) - peak(fused("llama3_2_1b", {FusedKernel::swiglu}, 1024));
  CHECK(saved > 0.95 * gates);
  CHECK(saved < 1.1 * gates);
}

TEST_CASE("scores take twelve bytes, eight beside a loss in place, and none in parts") {
  // Measured by fms-acceleration with Mistral-7B and PowerLM-3b (12.1 to 12.8 bytes a score, hidden states
  // included) and with Llama-3-8B (8.1).
  const double scores = 4096.0 * 128256;
  const auto bytes = [&](FusedKernels kernels) {
    const double block_inputs = 16 * 2048 * 2 * 4096.0;
    return (peak(with_recomputed_blocks(fused("llama3_2_1b", kernels, 4096))) - block_inputs) / scores;
  };
  CHECK(bytes({}) > 12.0);
  CHECK(bytes({}) < 12.8);
  CHECK(bytes({FusedKernel::cross_entropy}) > 7.9);
  CHECK(bytes({FusedKernel::cross_entropy}) < 8.8);
  CHECK(bytes({FusedKernel::linear_cross_entropy}) < 2.5);
}

TEST_CASE("compiled code keeps what a min-cut of its graph keeps") {
  // Of each block, in 16 bits: both norms' inputs and results, queries, keys and values of every head, what
  // attention makes, gate, up and their product; the scores in 16 bits beside their gradient. Counted on the
  // graphs that PyTorch 2.9 cuts (min_cut_rematerialization_partition with TorchInductor's decompositions).
  Model network = read_or_throw(*open_named(CatalogKind::models, "llama3_2_1b"), read_model);
  const double tokens = 1024, layers = 16, width = 2048, inner = 8192, words = 128256;
  network.tuning.weights = WeightFormat::bf16, network.tuning.is_compiled = true;
  network.input = {static_cast<std::int64_t>(tokens)};
  const ExpansionResult result = expand(network);
  REQUIRE(result.faults.empty());
  const double kept = 2 * tokens * (layers * (8 * width + 3 * inner) + 2 * width + 2 * words);
  CHECK(peak(result.model) > 0.97 * kept);
  CHECK(peak(result.model) < 1.03 * kept);
}

TEST_CASE("compiled training needs less memory than eager training, and is not called fine-tuning") {
  const auto needed = [](const char* execution) {
    const Scenario scenario = make_scenario(
        {.model = "llama3_2_1b",
         .cluster = "dgx-a100-80gb",
         .strategy = "ddp",
         .gpus = {4},
         .settings = {"model.sequence_length=2048", fmt::format("framework.execution=\"{}\"", execution)}});
    CHECK(named_with("llama3_2_1b", scenario.model.tuning) == "llama3_2_1b");
    return peak(*scenario.workload.model);
  };
  CHECK(needed("compiled") < 0.7 * needed("eager"));
}

TEST_CASE("FSDP holds what goes into frozen units until backward has ended") {
  const std::vector<std::string> lora{"model.adapters.kind=\"lora\"", "model.recompute=true",
                                      "model.fused_kernels=\"liger\""};
  const Scenario scenario = tuned_scenario("fsdp", lora);
  const ExpandedModel& model = *scenario.workload.model;
  const double plain = peak(model), held = peak_bytes(with_held_block_inputs(model.lifetimes), 1,
                                                      ActivationWidth::half, GradientTensors::kept);
  // Inputs of 16 blocks and their gradients, 2048 features of 2 bytes each: another set of them.
  const double set = 16 * 2048 * 2 * 2048.0;
  CHECK(held - plain > 0.85 * set);
  CHECK(held - plain < 1.15 * set);
}

TEST_CASE("words for fused kernels are kernels or libraries") {
  CHECK(fused_kernels_named("swiglu") == FusedKernels{FusedKernel::swiglu});
  CHECK(fused_kernels_named("liger")->has(FusedKernel::linear_cross_entropy));
  CHECK(!fused_kernels_named("flash_attn")->has(FusedKernel::linear_cross_entropy));
  CHECK(!fused_kernels_named("tiger"));
  CHECK(to_string(*fused_kernels_named("liger")) == "rms_norm, swiglu, rope, linear_cross_entropy");
  CHECK(known_fused_kernels().starts_with("rms_norm, swiglu, "));
}

TEST_CASE("an unknown fused kernel is a mistake with the known ones") {
  const auto ask = [] { tuned_scenario("ddp", {"model.fused_kernels=[\"rms_norm\", \"tiger\"]"}); };
  CHECK_THROWS_WITH(ask(), ContainsSubstring("no fused kernel is called \"tiger\""));
  CHECK_THROWS_WITH(ask(), ContainsSubstring("known are rms_norm, swiglu, rope"));
}

TEST_CASE("a product in one function with its adapter keeps what goes in once") {
  const auto kept = [](FusedKernels kernels) {
    Model network = read_or_throw(*open_named(CatalogKind::models, "llama3_2_1b"), read_model);
    network.tuning = {.adapter = AdapterKind::lora, .rank = 8, .targets = {"all-linear"}};
    network.tuning.weights = WeightFormat::nf4, network.tuning.fused = kernels;
    network.tuning.computes_in_half = true;
    network.input = {1024};
    ExpansionResult result = expand(network);
    for (const ModelFault& fault : result.faults) FAIL(fault.message);
    CHECK(result.model.parameter_elements() == 16 * 8 * (2 * 4096 + 2 * 2560 + 3 * 10240));
    return peak(result.model);
  };
  using enum FusedKernel;
  const double plain = kept({swiglu}), fused = kept({swiglu, lora});
  // 16 layers, 2 bytes: copies of what goes into seven products (six are 2048 wide, one 8192), and what goes
  // into the last of them itself.
  const double copies = 16 * 2 * 1024.0 * (6 * 2048 + 8192 + 8192);
  CHECK(plain - fused > 0.95 * copies);
  CHECK(plain - fused < 1.15 * copies);
  CHECK(kept({lora}) > fused);  // without a fused gate its result is kept
}

}  // namespace fused_kernels_test
