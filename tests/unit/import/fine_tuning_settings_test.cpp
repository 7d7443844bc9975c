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

TEST_CASE("torchtune: adapters, packed weights, the optimizer and the loss of a recipe") {
  const TrainingSettings lora = read(
      "model:\n  _component_: torchtune.models.llama3.qlora_llama3_8b\n  lora_attn_modules: [q_proj, "
      "v_proj]\n"
      "  apply_lora_to_mlp: True\n  lora_rank: 32\n  lora_alpha: 64\n  lora_dropout: 0.05\n"
      "tokenizer:\n  _component_: torchtune.models.llama3.llama3_tokenizer\n  max_seq_len: 4096\n"
      "optimizer:\n  _component_: torch.optim.AdamW\n  fused: True\n  lr: 1e-4\n"
      "loss:\n  _component_: torchtune.modules.loss.LinearCrossEntropyLoss\n"
      "dtype: bf16\nbatch_size: 2\ngradient_accumulation_steps: 8\nepochs: 1\ncompile: True\n"
      "enable_activation_checkpointing: True\n");
  CHECK(lora.format == "torchtune YAML");
  CHECK(value(lora, "model.adapters.kind") == "\"lora\"");
  CHECK(value(lora, "model.adapters.rank") == "32");
  CHECK(value(lora, "model.adapters.fp32") == "false");
  CHECK(value(lora, "model.adapters.targets") ==
        "[\"q_proj\", \"v_proj\", \"gate_proj\", \"up_proj\", \"down_proj\"]");
  CHECK(value(lora, "model.weights") == "\"nf4_double\"");
  CHECK(value(lora, "model.optimizer") == "\"adamw\"");
  CHECK(value(lora, "model.optimizer_form") == "\"fused\"");
  CHECK(value(lora, "model.fused_kernels") == "[\"linear_cross_entropy\"]");
  CHECK(value(lora, "model.sequence_length") == "4096");
  CHECK(value(lora, "model.recompute") == "true");
  CHECK(value(lora, "strategy.accumulation") == "8");
  CHECK(value(lora, "framework.execution") == "\"compiled\"");
  const TrainingSettings full = read(
      "model:\n  _component_: torchtune.models.llama3_2.llama3_2_3b\noptimizer:\n"
      "  _component_: bitsandbytes.optim.PagedAdamW8bit\noptimizer_in_bwd: True\ndtype: bf16\nbatch_size: "
      "4\n");
  CHECK(value(full, "model.adapters.kind").empty());
  CHECK(value(full, "model.weights") == "\"bf16\"");
  CHECK(value(full, "model.optimizer") == "\"adamw_8bit\"");
  CHECK(value(full, "model.optimizer_in_backward") == "true");
}

TEST_CASE("litgpt: adapters, packed weights, processes and micro-steps") {
  const TrainingSettings lora = read(
      "checkpoint_dir: checkpoints/x\nprecision: bf16-true\nquantize: bnb.nf4\ndevices: 2\nnum_nodes: 1\n"
      "lora_r: 32\nlora_alpha: 16\nlora_dropout: 0.05\nlora_query: true\nlora_key: false\nlora_value: true\n"
      "lora_projection: false\nlora_mlp: false\nlora_head: false\n"
      "train:\n  global_batch_size: 8\n  micro_batch_size: 2\n  max_seq_length: 512\n  epochs: 4\n");
  CHECK(lora.format == "litgpt YAML");
  CHECK(value(lora, "model.adapters.rank") == "32");
  CHECK(value(lora, "model.adapters.targets") == "[\"q_proj\", \"v_proj\"]");
  CHECK(value(lora, "model.weights") == "\"nf4\"");
  CHECK(value(lora, "model.sequence_length") == "512");
  CHECK(value(lora, "strategy.name") == "\"fsdp\"");
  CHECK(value(lora, "strategy.accumulation") == "2");
  const TrainingSettings full = read(
      "checkpoint_dir: checkpoints/x\nprecision: bf16-true\ndevices: 1\ntrain:\n  micro_batch_size: 4\n");
  CHECK(value(full, "model.weights") == "\"bf16\"");
  CHECK(value(full, "model.adapters.kind").empty());
}

TEST_CASE("fused kernels by the keys of Hugging Face, axolotl and LLaMA-Factory") {
  CHECK(value(read("per_device_train_batch_size: 1\nuse_liger_kernel: true\n"), "model.fused_kernels") ==
        "[\"liger\"]");
  const TrainingSettings several = read(
      "base_model: x\nmicro_batch_size: 1\nliger_rms_norm: true\nliger_rope: false\nflash_attention: true\n");
  CHECK(value(several, "model.fused_kernels") == "[\"rms_norm\", \"flash_attention\"]");
  CHECK(value(read("per_device_train_batch_size: 1\nfinetuning_type: lora\nflash_attn: fa2\n"),
              "model.fused_kernels") == "[\"flash_attention\"]");
}

}  // namespace fine_tuning_settings_test
