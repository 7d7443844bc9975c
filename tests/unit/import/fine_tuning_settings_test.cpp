// Adapters, quantised weights and lengths as the tools' settings have them.
#include "sim/import/settings/readers.hpp"
#include "tests/support/catch.hpp"

namespace fine_tuning_settings_test {

using namespace foretrain;

namespace {

TrainingSettings read(const std::string& text) { return read_settings({"file", text}); }

std::string value(const TrainingSettings& settings, std::string_view key) {
  return value_of(settings, std::string(key));
}

}  // namespace

TEST_CASE("LLaMA-Factory: the adapter, its rank and its targets") {
  const TrainingSettings lora = read(
      "per_device_train_batch_size: 1\nfinetuning_type: lora\nlora_rank: 16\nlora_target: all\nbf16: true\n"
      "cutoff_len: 2048\n");
  CHECK(value(lora, "model.adapters.kind") == "\"lora\"");
  CHECK(value(lora, "model.adapters.rank") == "16");
  CHECK(value(lora, "model.adapters.targets") == "[\"all-linear\"]");
  CHECK(value(lora, "model.weights") == "\"bf16\"");
  CHECK(value(lora, "model.sequence_length") == "2048");
  const TrainingSettings four = read(
      "per_device_train_batch_size: 1\nfinetuning_type: lora\nlora_target: q_proj,v_proj\nquantization_bit: "
      "4\n"
      "use_dora: true\nbf16: true\n");
  CHECK(value(four, "model.weights") == "\"nf4_double\"");
  CHECK(value(four, "model.adapters.kind") == "\"dora\"");
  CHECK(value(four, "model.adapters.targets") == "[\"q_proj\", \"v_proj\"]");
  const TrainingSettings usual = read("per_device_train_batch_size: 1\nfinetuning_type: lora\nbf16: true\n");
  CHECK(value(usual, "model.adapters.targets") == "\"all-linear\"");
  const TrainingSettings freeze =
      read("per_device_train_batch_size: 1\nfinetuning_type: freeze\nfreeze_trainable_layers: 3\n");
  CHECK(value(freeze, "model.trainable") == "[\"last:3\"]");
  const TrainingSettings pure =
      read("per_device_train_batch_size: 1\nfinetuning_type: full\npure_bf16: true\nbf16: true\n");
  CHECK(value(pure, "model.weights") == "\"bf16\"");
  CHECK(value(read("per_device_train_batch_size: 1\nfinetuning_type: full\nbf16: true\n"), "model.weights")
            .empty());
}

TEST_CASE("axolotl: qlora, all linear layers, packed samples of a length") {
  const TrainingSettings settings = read(
      "base_model: a/b\nmicro_batch_size: 2\nsequence_len: 4096\nadapter: qlora\nload_in_4bit: true\nlora_r: "
      "32\n"
      "lora_target_linear: true\nlora_dropout: 0.05\nlora_modules_to_save:\n  - embed_tokens\n  - "
      "lm_head\nbf16: auto\n"
      "optimizer: paged_adamw_8bit\n");
  CHECK(value(settings, "model.weights") == "\"nf4_double\"");
  CHECK(value(settings, "model.adapters.rank") == "32");
  CHECK(value(settings, "model.adapters.targets") == "\"all-linear\"");
  CHECK(value(settings, "model.adapters.dropout") == "true");
  CHECK(value(settings, "model.trainable") == "[\"embed_tokens\", \"lm_head\"]");
  CHECK(value(settings, "model.sequence_length") == "4096");
  CHECK(value(settings, "model.optimizer") == "\"adamw_8bit\"");
}

TEST_CASE("PEFT: adapter_config.json, and calls in a program") {
  const TrainingSettings config = read(
      "{\"peft_type\": \"LORA\", \"r\": 64, \"target_modules\": [\"q_proj\", \"o_proj\"], \"lora_dropout\": "
      "0.0}");
  CHECK(config.format == "PEFT adapter_config.json");
  CHECK(value(config, "model.adapters.rank") == "64");
  CHECK(value(config, "model.adapters.dropout") == "false");
  const TrainingSettings program = read(
      "model = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)\n"
      "model = get_peft_model(model, LoraConfig(r=8, target_modules=[\"c_attn\"], lora_dropout=0.1))\n"
      "args = TrainingArguments(per_device_train_batch_size=4, bf16=True)\n");
  CHECK(value(program, "model.adapters.kind") == "\"lora\"");
  CHECK(value(program, "model.adapters.rank") == "8");
  CHECK(value(program, "model.adapters.targets") == "[\"c_attn\"]");
  CHECK(value(program, "model.weights") == "\"bf16\"");
}

TEST_CASE("Trainer with weights of 16 bits has no fp32 masters") {
  const TrainingSettings arguments =
      read("per_device_train_batch_size: 4\nbf16: true\ntorch_dtype: bfloat16\n");
  CHECK(value(arguments, "model.weights") == "\"bf16\"");
  CHECK(value(arguments, "model.half_weights").empty());
}

TEST_CASE("methods that are not modelled are told") {
  for (const char* method : {"oft", "loha"}) {
    const TrainingSettings settings =
        read(std::string("per_device_train_batch_size: 1\nfinetuning_type: ") + method + "\n");
    CHECK(unmodelled_settings(settings).size() == 1);
  }
  CHECK_THROWS_AS(read("per_device_train_batch_size: 1\nfinetuning_type: lora\nlora_rank: 0\n"), InputError);
}

}  // namespace fine_tuning_settings_test
