// Fine-tuning a network: what trains, what is kept for backward, and what a GPU holds.
#include <algorithm>
#include <cmath>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/workload/device/memory.hpp"
#include "sim/workload/fine_tuning/fine_tuning.hpp"
#include "tests/support/catch.hpp"

namespace adapters_test {

using namespace foretrain;
using Catch::Matchers::ContainsSubstring;

namespace {

ExpandedModel tuned(const std::string& model, FineTuning tuning, std::int64_t tokens = 0) {
  Model network = read_or_throw(*open_named(CatalogKind::models, model), read_model);
  network.tuning = std::move(tuning);
  if (tokens > 0) network.input = {tokens};
  ExpansionResult result = expand(network);
  for (const ModelFault& fault : result.faults) FAIL(fault.message);
  return std::move(result.model);
}

FineTuning lora(std::int64_t rank, std::vector<std::string> targets) {
  FineTuning tuning;
  tuning.adapter = AdapterKind::lora, tuning.rank = rank, tuning.targets = std::move(targets);
  return tuning;
}

std::int64_t trained(const std::string& model, const FineTuning& tuning) {
  return tuned(model, tuning, 64).parameter_elements();
}

double backward_flops(const ExpandedModel& model) {
  double sum = 0;
  for (const BackwardStep& step : model.backward) sum += step.op.flops.at(1);
  return sum;
}

}  // namespace

TEST_CASE("adapters have as many parameters as the tools print") {
  // litgpt's and PEFT's own counts.
  CHECK(trained("llama2_7b", lora(8, {"q_proj", "v_proj"})) == 4'194'304);
  CHECK(trained("llama2_7b", lora(8, {})) == 4'194'304);
  CHECK(trained("llama2_13b", lora(8, {"q_proj", "v_proj"})) == 6'553'600);
  CHECK(trained("llama2_7b", lora(16, {"all-linear"})) == 39'976'960);
  CHECK(trained("llama3_8b", lora(16, {"all-linear"})) == 41'943'040);
  CHECK(trained("mistral_7b", lora(16, {"q_proj", "k_proj", "v_proj", "o_proj"})) == 13'631'488);
  CHECK(trained("llama3_2_3b", lora(32, {"q_proj", "v_proj"})) == 9'175'040);
  FineTuning factors;
  factors.adapter = AdapterKind::ia3;
  CHECK(trained("llama3_2_3b", factors) == 286'720);
}

TEST_CASE("a network is named with how it is trained, where that is not as usual") {
  CHECK(named_with("llama3_8b", {}) == "llama3_8b");
  FineTuning tuning = lora(16, {});
  tuning.weights = WeightFormat::nf4;
  CHECK(named_with("llama3_8b", tuning) == "llama3_8b (lora of rank 16, weights in nf4)");
  FineTuning part;
  part.trainable = {"head", "norms"}, part.fused = {FusedKernel::linear_cross_entropy};
  CHECK(named_with("gpt2", part) == "gpt2 (trains head, norms, fused linear_cross_entropy)");
}

TEST_CASE("a packed projection is a target by its own name and by those of its parts") {
  const std::int64_t packed = trained("falcon_7b", lora(8, {"query_key_value"}));
  CHECK(packed == 32 * 8 * (4544 + 4672));
  CHECK(trained("falcon_7b", lora(8, {})) == packed);
  CHECK(trained("gpt2", lora(8, {"c_attn"})) == 12 * 8 * (768 + 3 * 768));
}

TEST_CASE("frozen weights have neither gradients nor the product that makes one") {
  const ExpandedModel whole = tuned("llama3_2_1b", {}, 128);
  const ExpandedModel part = tuned("llama3_2_1b", lora(8, {"all-linear"}), 128);
  CHECK(part.frozen_elements() == whole.parameter_elements());
  // Of two products backward one is left, but for the head, whose input alone gets a gradient.
  CHECK(backward_flops(part) < 0.56 * backward_flops(whole));
  CHECK(backward_flops(part) > 0.48 * backward_flops(whole));
  CHECK(part.forward_flops().at(1) > whole.forward_flops().at(1));
  CHECK(part.gradient_ready_order().size() == part.parameters.size());
  CHECK(part.saved_bytes.at(1) < whole.saved_bytes.at(1));
}

TEST_CASE("only the part of a network behind the first trained parameter runs backward") {
  FineTuning head;
  head.trainable = {"head"};
  const ExpandedModel model = tuned("llama3_8b", head, 64);
  CHECK(std::ranges::all_of(model.backward, [&](const BackwardStep& step) {
    const std::string& layer = model.layer_names[step.op.layer];
    return layer == "lm_head" || layer == "shift" || layer == "loss";
  }));
  FineTuning last;
  last.trainable = {"last:2"};
  CHECK(tuned("llama3_8b", last, 64).parameter_elements() == 2 * (41'943'040 + 3 * 58'720'256 + 2 * 4096));
}

TEST_CASE("weights take the bytes of their format") {
  FineTuning tuning = lora(16, {"q_proj", "k_proj", "v_proj", "o_proj"});
  tuning.weights = WeightFormat::bf16;
  CHECK(tuned("mistral_7b", tuning, 64).frozen_bytes() == 2 * std::int64_t{7'241'732'096});
  tuning.weights = WeightFormat::nf4_double;
  // Measured by fms-acceleration: 4.29 GB with the adapters.
  const double gb = static_cast<double>(tuned("mistral_7b", tuning, 64).frozen_bytes()) / 1e9;
  CHECK(gb > 4.1);
  CHECK(gb < 4.3);
  CHECK(bytes_per_weight(WeightFormat::nf4) == 0.5625);
  CHECK(bytes_per_weight(WeightFormat::nf4_double) < 0.5159);
}

TEST_CASE("packed weights are converted before every product, and never take more memory") {
  FineTuning tuning = lora(8, {"all-linear"});
  tuning.weights = WeightFormat::bf16;
  const ExpandedModel plain = tuned("llama3_2_1b", tuning, 128);
  tuning.weights = WeightFormat::nf4;
  const ExpandedModel packed = tuned("llama3_2_1b", tuning, 128);
  const std::size_t products = 7 * 16;
  CHECK(packed.forward.size() == plain.forward.size() + products);
  // The first block's query, key and value have nothing before them that gets a gradient.
  CHECK(packed.backward.size() == plain.backward.size() + products - 3);
  CHECK(packed.frozen_bytes() < plain.frozen_bytes());
}

TEST_CASE("what cannot be trained as asked is a mistake that says why") {
  const auto fault = [](FineTuning tuning, const char* model = "llama3_2_1b") {
    Model network = read_or_throw(*open_named(CatalogKind::models, model), read_model);
    network.tuning = std::move(tuning);
    const ExpansionResult result = expand(network);
    return result.faults.empty() ? std::string() : result.faults.front().message;
  };
  CHECK(fault(lora(8, {"to_qkv_all"})) == "no layer of llama3_2_1b is called \"to_qkv_all\"");
  CHECK(fault(lora(4096, {"q_proj"})).starts_with("an adapter of rank 4096 is wider than "));
  FineTuning packed;
  packed.trainable = {"head"}, packed.weights = WeightFormat::nf4;
  CHECK(fault(packed, "resnet50") == "resnet50 has no frozen linear layer that nf4 could store");
  FineTuning nothing;
  nothing.adapter = AdapterKind::lora;
  CHECK(fault(nothing, "resnet50") == "nothing of resnet50 would be trained");
}

TEST_CASE("a loss over parts of the tokens keeps no scores of the vocabulary") {
  FineTuning fused;
  const auto peak = [](const FineTuning& tuning) {
    return peak_bytes(tuned("llama3_2_1b", tuning, 2048).lifetimes, 1, ActivationWidth::half,
                      GradientTensors::kept);
  };
  fused.fused = {FusedKernel::linear_cross_entropy};
  const double scores = 2048.0 * 128256;
  CHECK(peak({}) - peak(fused) > 6 * scores);
}

TEST_CASE("16 bits without masters take eight bytes a parameter under Adam") {
  const Scenario scenario = make_scenario({.model = "llama3_2_1b",
                                           .cluster = "della-a100",
                                           .settings = {"model.weights=\"bf16\"", "model.optimizer=\"adamw\"",
                                                        "model.optimizer_form=\"fused\""}});
  const MemoryUse use = memory_use(scenario.workload, {});
  const auto elements = static_cast<double>(scenario.workload.model->parameter_elements());
  const auto bytes = static_cast<double>((use.parameters + use.gradients + use.optimizer).count);
  CHECK(std::abs(bytes / elements - 8) < 0.01);
}

TEST_CASE("an optimizer inside of backward holds two gradients, and asks for gradients that are not kept") {
  const auto asked = [](const std::string& strategy, std::vector<std::string> settings) {
    settings.insert(settings.end(), {"model.weights=\"bf16\"", "model.optimizer=\"adamw\"",
                                     "model.optimizer_in_backward=true"});
    return make_scenario({.model = "llama3_2_1b",
                          .cluster = "della-a100",
                          .strategy = strategy,
                          .gpus = {1},
                          .settings = settings});
  };
  const MemoryUse use = memory_use(asked("single", {}).workload, {});
  CHECK(use.gradients.count == 2 * 2 * 128256LL * 2048);  // the embedding, which is the head as well
  CHECK_THROWS_WITH(asked("ddp", {}), ContainsSubstring("ddp keeps gradients until they are exchanged"));
  CHECK_THROWS_WITH(asked("single", {"strategy.accumulation=4"}),
                    ContainsSubstring("nothing is accumulated"));
}

}  // namespace adapters_test
