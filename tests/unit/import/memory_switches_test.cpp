// Activations in host memory and fp32 weights beside packed ones, as the tools' settings and programs ask.
#include <algorithm>

#include "sim/import/settings/readers.hpp"
#include "tests/support/catch.hpp"

namespace memory_switches_test {

using namespace foretrain;

namespace {

TrainingSettings read(const std::string& text) { return read_settings({"file", text}); }

std::string value(const TrainingSettings& settings, std::string_view key) {
  return value_of(settings, std::string(key));
}

constexpr const char* kProgram =
    "model = AutoModelForCausalLM.from_pretrained(name, quantization_config=BitsAndBytesConfig(\n"
    "    load_in_4bit=True, bnb_4bit_use_double_quant=True))\n";

}  // namespace

TEST_CASE("a configuration of bits that stands in the call that loads is read") {
  CHECK(value(read(kProgram), "model.weights") == "\"nf4_double\"");
  CHECK(value(read(std::string(kProgram) + "model = prepare_model_for_kbit_training(model)\n"),
              "model.upcast") == "\"all\"");
}

TEST_CASE("axolotl offloads activations in two forms") {
  const std::string file = "base_model: x\nmicro_batch_size: 1\nadapter: lora\nbf16: true\n";
  const TrainingSettings inputs = read(file + "gradient_checkpointing: offload\n");
  CHECK(value(inputs, "model.recompute") == "true");
  CHECK(value(inputs, "model.offload_activations") == "\"checkpoints\"");
  const TrainingSettings saved = read(file + "gradient_checkpointing: true\nactivation_offloading: true\n");
  CHECK(value(saved, "model.recompute") == "true");
  CHECK(value(saved, "model.offload_activations") == "\"saved_tensors\"");
  CHECK(value(read(file + "activation_offloading: legacy\n"), "model.offload_activations") ==
        "\"checkpoints\"");
  const TrainingSettings disk = read(file + "activation_offloading: disk\n");
  CHECK(value(disk, "model.offload_activations").empty());
  CHECK(std::ranges::any_of(disk.keys, [](const ReadKey& key) {
    return key.path == "activation_offloading" && key.fate == KeyFate::not_modelled;
  }));
  CHECK_THROWS_AS(read(file + "activation_offloading: sometimes\n"), InputError);
  CHECK(value(read(file), "model.offload_activations").empty());
}

TEST_CASE("LLaMA-Factory recomputes blocks by default, and offloads with unsloth's form") {
  const std::string file = "per_device_train_batch_size: 1\nfinetuning_type: lora\nbf16: true\n";
  CHECK(value(read(file), "model.recompute") == "true");
  CHECK(value(read(file + "disable_gradient_checkpointing: true\n"), "model.recompute") == "false");
  CHECK(value(read(file + "use_unsloth_gc: true\n"), "model.offload_activations") == "\"checkpoints\"");
  CHECK(value(read(file + "use_unsloth_gc: false\n"), "model.offload_activations").empty());
  CHECK(value(read(file + "upcast_layernorm: true\n"), "model.upcast") == "\"norms\"");
  CHECK(value(read(file + "upcast_layernorm: false\n"), "model.upcast").empty());
  // Of weights in fp32 nothing is upcast.
  CHECK(value(read("per_device_train_batch_size: 1\nfinetuning_type: full\nupcast_layernorm: true\n"),
              "model.upcast")
            .empty());
  CHECK(value(read("per_device_train_batch_size: 1\n"), "model.recompute").empty());
}

TEST_CASE("torchtune and TRL move what autograd keeps") {
  const std::string recipe =
      "model:\n  _component_: torchtune.models.llama3_2.llama3_2_3b\ndtype: bf16\nbatch_size: 2\n"
      "enable_activation_checkpointing: True\n";
  CHECK(value(read(recipe + "enable_activation_offloading: True\n"), "model.offload_activations") ==
        "\"saved_tensors\"");
  CHECK(value(read(recipe + "enable_activation_offloading: False\n"), "model.offload_activations") ==
        "\"none\"");
  const TrainingSettings trl = read(
      "args = SFTConfig(output_dir='x', bf16=True, per_device_train_batch_size=2, "
      "activation_offloading=True, gradient_checkpointing=True)\n");
  CHECK(value(trl, "model.offload_activations") == "\"saved_tensors\"");
  CHECK(value(trl, "model.recompute") == "true");
}

TEST_CASE("unsloth's get_peft_model recomputes in its own way") {
  const TrainingSettings own = read(
      "model, tokenizer = FastLanguageModel.from_pretrained(model_name='x', load_in_4bit=True)\n"
      "model = FastLanguageModel.get_peft_model(model, r=16, use_gradient_checkpointing='unsloth')\n");
  CHECK(value(own, "model.offload_activations") == "\"checkpoints\"");
  CHECK(value(own, "model.recompute") == "true");
  const TrainingSettings usual =
      read("model = FastLanguageModel.get_peft_model(model, r=16, use_gradient_checkpointing=True)\n");
  CHECK(value(usual, "model.recompute") == "true");
  CHECK(value(usual, "model.offload_activations").empty());
}

TEST_CASE("a call of prepare_model_for_kbit_training makes the other weights fp32 and recomputes blocks") {
  const TrainingSettings called =
      read(std::string(kProgram) + "model = prepare_model_for_kbit_training(model)\n");
  CHECK(value(called, "model.weights") == "\"nf4_double\"");
  CHECK(value(called, "model.upcast") == "\"all\"");
  CHECK(value(called, "model.recompute") == "true");
  const TrainingSettings kept =
      read(std::string(kProgram) +
           "model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)\n");
  CHECK(value(kept, "model.upcast") == "\"all\"");
  CHECK(value(kept, "model.recompute") == "false");
  CHECK(value(read(kProgram), "model.upcast").empty());
  const TrainingSettings wide = read(
      "model = AutoModelForCausalLM.from_pretrained(name)\nmodel = prepare_model_for_kbit_training(model)\n"
      "model = get_peft_model(model, LoraConfig(r=8))\n");
  CHECK(value(wide, "model.upcast").empty());
}

TEST_CASE("PEFT's prompt, p- and prefix tuning, in a program and in an adapter's file") {
  const TrainingSettings prompt =
      read("config = PromptTuningConfig(task_type='CAUSAL_LM', num_virtual_tokens=8)\n");
  CHECK(value(prompt, "model.adapters.kind") == "\"prompt\"");
  CHECK(value(prompt, "model.adapters.virtual_tokens") == "8");
  const TrainingSettings encoder =
      read("config = PromptEncoderConfig(num_virtual_tokens=20, encoder_hidden_size=128)\n");
  CHECK(value(encoder, "model.adapters.kind") == "\"p_tuning\"");
  CHECK(value(encoder, "model.adapters.encoder_width") == "128");
  const TrainingSettings prefix =
      read("config = PrefixTuningConfig(num_virtual_tokens=30, encoder_hidden_size=128)\n");
  CHECK(value(prefix, "model.adapters.kind") == "\"prefix\"");
  CHECK(value(prefix, "model.adapters.encoder_width").empty());  // without prefix_projection
  CHECK(value(read("config = PrefixTuningConfig(num_virtual_tokens=30, encoder_hidden_size=128, "
                   "prefix_projection=True)\n"),
              "model.adapters.encoder_width") == "128");
  const TrainingSettings file =
      read("{\"peft_type\": \"PREFIX_TUNING\", \"num_virtual_tokens\": 200, \"task_type\": \"CAUSAL_LM\"}");
  CHECK(value(file, "model.adapters.kind") == "\"prefix\"");
  CHECK(value(file, "model.adapters.virtual_tokens") == "200");
  CHECK_THROWS_AS(read("config = PromptTuningConfig(num_virtual_tokens=0)\n"), InputError);
  CHECK_THROWS_AS(read("config = PromptTuningConfig(num_virtual_tokens=1e9)\n"), InputError);
}

TEST_CASE("packed samples fill the length, others are shorter than it") {
  const auto fate_of = [](const std::string& text, std::string_view path) {
    const TrainingSettings settings = read(text);
    const auto found = std::ranges::find(settings.keys, path, &ReadKey::path);
    REQUIRE(found != settings.keys.end());
    return found->fate;
  };
  const std::string axolotl = "base_model: x\nmicro_batch_size: 1\nsequence_len: 2048\n",
                    factory = "per_device_train_batch_size: 1\nfinetuning_type: lora\n";
  CHECK(fate_of(axolotl + "sample_packing: true\n", "sample_packing") == KeyFate::usual);
  CHECK(fate_of(axolotl + "sample_packing: false\n", "sample_packing") == KeyFate::not_modelled);
  CHECK(fate_of(factory + "packing: true\n", "packing") == KeyFate::usual);
  CHECK(fate_of(factory + "neat_packing: false\n", "neat_packing") == KeyFate::not_modelled);
  CHECK_THROWS_AS(read(factory + "packing: perhaps\n"), InputError);
}

TEST_CASE("GaLore by transformers' words and LLaMA-Factory's") {
  const TrainingSettings words = read(
      "per_device_train_batch_size: 1\noptim: galore_adamw_8bit_layerwise\noptim_args: rank=64, "
      "update_proj_gap=100, scale=0.10\n");
  CHECK(value(words, "model.optimizer") == "\"galore_adamw_8bit\"");
  CHECK(value(words, "model.optimizer_in_backward") == "true");
  CHECK(value(words, "model.optimizer_rank") == "64");
  CHECK(value(words, "model.optimizer_update_gap") == "100");
  const TrainingSettings factory = read(
      "per_device_train_batch_size: 1\nfinetuning_type: full\nuse_galore: true\ngalore_rank: 128\n"
      "galore_update_interval: 500\ngalore_scale: 2.0\n");
  CHECK(value(factory, "model.optimizer") == "\"galore_adamw\"");
  CHECK(value(factory, "model.optimizer_rank") == "128");
  CHECK(value(factory, "model.optimizer_update_gap") == "500");
  CHECK(value(read("per_device_train_batch_size: 1\noptim_args: rank=-3\n"), "model.optimizer_rank").empty());
  CHECK(value(read("per_device_train_batch_size: 1\nuse_galore: false\n"), "model.optimizer").empty());
  const TrainingSettings apollo = read(
      "per_device_train_batch_size: 1\nfinetuning_type: full\nuse_apollo: true\napollo_rank: 128\n"
      "apollo_scale: 32.0\n");
  CHECK(value(apollo, "model.optimizer") == "\"apollo_adamw\"");
  CHECK(value(apollo, "model.optimizer_rank") == "128");
}

}  // namespace memory_switches_test
