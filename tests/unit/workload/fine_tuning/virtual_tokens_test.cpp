// Prompt tuning, p-tuning and prefix tuning: trained parameters, and the work that they add.
#include <algorithm>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/workload/fine_tuning/fine_tuning.hpp"
#include "tests/support/catch.hpp"

namespace virtual_tokens_test {

using namespace foretrain;

namespace {

FineTuning virtual_tokens(AdapterKind kind, std::int64_t tokens, std::int64_t encoder = 0) {
  FineTuning tuning;
  tuning.adapter = kind, tuning.virtual_tokens = tokens, tuning.encoder_width = encoder;
  return tuning;
}

ExpandedModel tuned(const std::string& name, const FineTuning& tuning, std::int64_t length = 128) {
  Model network = read_or_throw(*open_named(CatalogKind::models, name), read_model);
  network.input = {length};
  network.tuning = tuning;
  ExpansionResult result = expand(network);
  for (const ModelFault& fault : result.faults) FAIL(fault.message);
  return std::move(result.model);
}

std::string fault(const std::string& name, const FineTuning& tuning) {
  Model network = read_or_throw(*open_named(CatalogKind::models, name), read_model);
  network.tuning = tuning;
  const ExpansionResult result = expand(network);
  return result.faults.empty() ? "" : result.faults.front().message;
}

double forward_flops(const ExpandedModel& model) { return model.forward_flops().at(1); }

FineTuning frozen() {
  FineTuning tuning;
  tuning.trainable = {"head"};
  return tuning;
}

}  // namespace

TEST_CASE("virtual tokens have as many trained parameters as PEFT prints") {
  // peft's method_comparison, Llama-3.2-3B: p-tuning of 20 tokens, prefix tuning of 200.
  CHECK(tuned("llama3_2_3b", virtual_tokens(AdapterKind::p_tuning, 20)).parameter_elements() == 28'382'208);
  CHECK(tuned("llama3_2_3b", virtual_tokens(AdapterKind::prefix, 200)).parameter_elements() == 11'468'800);
  CHECK(tuned("llama3_2_3b", virtual_tokens(AdapterKind::prompt, 8)).parameter_elements() == 8 * 3072);
  // A prefix through an encoder: a table, one layer, and the columns of 28 layers' keys and values.
  const std::int64_t encoder = 10 * 3072 + (3072 * 512 + 512) + 28 * 2 * (512 * 1024 + 1024);
  CHECK(tuned("llama3_2_3b", virtual_tokens(AdapterKind::prefix, 10, 512)).parameter_elements() == encoder);
  CHECK(tuned("gpt2", virtual_tokens(AdapterKind::prefix, 10)).parameter_elements() == 10 * 12 * 2 * 768);
}

TEST_CASE("a prompt lengthens the sequence for every layer, a prefix only what attention looks at") {
  const double alone = forward_flops(tuned("llama3_2_3b", frozen(), 128)),
               longer = forward_flops(tuned("llama3_2_3b", frozen(), 160)),
               prompt = forward_flops(tuned("llama3_2_3b", virtual_tokens(AdapterKind::prompt, 32), 128)),
               prefix = forward_flops(tuned("llama3_2_3b", virtual_tokens(AdapterKind::prefix, 32), 128));
  CHECK(prompt == Approx(longer).epsilon(0.001));
  CHECK(prefix > alone);
  CHECK(prefix < alone + 0.1 * (longer - alone));
}

TEST_CASE("gradients run back to the first trained vector") {
  const ExpandedModel prompt = tuned("llama3_2_3b", virtual_tokens(AdapterKind::prompt, 8));
  CHECK(prompt.frozen_elements() == 3'212'749'824);
  CHECK(prompt.gradient_ready_order().size() == prompt.parameters.size());
  CHECK(prompt.backward_flops().at(1) == Approx(prompt.forward_flops().at(1)).epsilon(0.1));
  const ExpandedModel prefix = tuned("llama3_2_3b", virtual_tokens(AdapterKind::prefix, 8));
  CHECK(prefix.gradient_ready_order().size() == prefix.parameters.size());
}

TEST_CASE("what has no words cannot have virtual ones, and tables of positions end") {
  CHECK(fault("resnet50", virtual_tokens(AdapterKind::prompt, 8)) == "nothing of resnet50 would be trained");
  CHECK_THAT(fault("gpt2", virtual_tokens(AdapterKind::prompt, 20)),
             Catch::Matchers::Contains("position has 1024 entries"));
  CHECK_THAT(fault("llama3_2_3b", virtual_tokens(AdapterKind::prompt, std::int64_t{1} << 40)),
             Catch::Matchers::Contains("more than 2^40 elements"));
}

TEST_CASE("a network is named with its virtual tokens") {
  CHECK(named_with("llama3_8b", virtual_tokens(AdapterKind::prefix, 30)) ==
        "llama3_8b (prefix of 30 virtual tokens)");
}

}  // namespace virtual_tokens_test
