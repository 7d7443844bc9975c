// A layout of Megatron-LM as [parallel], and its network as a model file: the network's arguments become a
// config.json of transformers, whose reader knows the layers.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/models/model_file.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

constexpr std::int64_t kMostSize = 1'000'000;

/// An argument of the network; 0: it does not stand there. What it says goes into the network.
std::int64_t size_of(SettingsReading& reading, std::string_view name) {
  const auto value = reading.integer({name}, 1, kMostSize);
  if (value) reading.fate(KeyFate::usual, "part of the network");
  return value.value_or(0);
}

bool has_flag(SettingsReading& reading, std::string_view name) {
  const bool on = reading.has(name) && reading.flag({name}).value_or(false);
  if (on) reading.fate(KeyFate::usual, "part of the network");
  return on;
}

/// Words of the tokenizer, which the arguments seldom say: Llama's, or GPT-2's as Megatron-LM pads it.
std::int64_t words_of(SettingsReading& reading) {
  if (const std::int64_t said = size_of(reading, "vocab_size"); said > 0) return said;
  const std::string tokenizer = reading.word({"tokenizer_type"}).value_or("");
  return tokenizer.find("llama") != std::string::npos ? 32'000 : 50'304;
}

/// megatron/training/arguments.py: four times the width, with SwiGLU two thirds of it in steps of 64.
std::int64_t usual_inner(std::int64_t width, bool gated) {
  return gated ? 4 * width * 2 / 3 / 64 * 64 : 4 * width;
}

struct MegatronNetwork {
  std::int64_t layers = 0, width = 0, heads = 0, inner = 0, groups = 0, sequence = 0, words = 0, experts = 0,
               expert_inner = 0, top = 0;
  bool gated = false, rms = false, untied = false;
};

MegatronNetwork read_shape(SettingsReading& reading) {
  MegatronNetwork n{.layers = size_of(reading, "num_layers"),
                    .width = size_of(reading, "hidden_size"),
                    .heads = size_of(reading, "num_attention_heads")};
  n.gated = has_flag(reading, "swiglu");
  n.untied = has_flag(reading, "untie_embeddings_and_output_weights");
  n.rms = reading.word({"normalization"}).value_or("") == "rmsnorm";
  n.inner = size_of(reading, "ffn_hidden_size");
  if (n.inner == 0) n.inner = usual_inner(n.width, n.gated);
  const std::int64_t groups = size_of(reading, "num_query_groups");
  n.groups = has_flag(reading, "group_query_attention") && groups > 0 ? groups : n.heads;
  n.sequence = size_of(reading, "seq_length");
  n.experts = size_of(reading, "num_experts");
  n.expert_inner = size_of(reading, "moe_ffn_hidden_size");
  n.top = size_of(reading, "moe_router_topk");
  if (n.top == 0) n.top = 2;
  n.words = words_of(reading);
  return n;
}

std::string gpt2_config(const MegatronNetwork& n, std::int64_t positions) {
  return fmt::format(
      R"({{"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": {}, "n_embd": {},
"n_head": {}, "n_inner": {}, "n_positions": {}, "vocab_size": {}, "activation_function": "gelu",
"tie_word_embeddings": {}}})",
      n.layers, n.width, n.heads, n.inner, positions, n.words, !n.untied);
}

std::string llama_config(const MegatronNetwork& n, std::int64_t positions) {
  const std::string experts =
      n.experts == 0
          ? ""
          : fmt::format("\"num_local_experts\": {}, \"num_experts_per_tok\": {}, ", n.experts, n.top);
  return fmt::format(
      R"({{"model_type": "{}", "architectures": ["{}ForCausalLM"], "num_hidden_layers": {}, "hidden_size": {},
"num_attention_heads": {}, "num_key_value_heads": {}, "intermediate_size": {}, {}"hidden_act": "silu",
"max_position_embeddings": {}, "vocab_size": {}, "tie_word_embeddings": {}}})",
      n.experts > 0 ? "mixtral" : "llama", n.experts > 0 ? "Mixtral" : "Llama", n.layers, n.width, n.heads,
      n.groups, n.experts > 0 && n.expert_inner > 0 ? n.expert_inner : n.inner, experts, positions, n.words,
      !n.untied);
}

/// Layers per stage and chunk; 0: no interleaving.
std::int64_t virtual_stages(SettingsReading& reading, std::int64_t layers, std::int64_t pipeline) {
  const auto each = reading.integer({"num_layers_per_virtual_pipeline_stage"}, 1, kMostSize);
  if (!each || pipeline < 2 || layers == 0 || layers % (pipeline * *each) != 0) return 0;
  return layers / (pipeline * *each);
}

void read_recomputation(SettingsReading& reading) {
  const std::string granularity = reading.word({"recompute_granularity"}).value_or("");
  if (granularity == "full" || granularity == "selective")
    reading.effect({{"parallel.recompute", fmt::format("\"{}\"", granularity)}});
  else if (reading.flag({"recompute_activations"}).value_or(false))
    reading.effect({{"parallel.recompute", "\"selective\""}});
  const bool by_block = reading.word({"recompute_method"}).value_or("") == "block";
  const auto layers = reading.integer({"recompute_num_layers"}, 1, kMostSize);
  if (granularity == "full" && by_block && layers)
    reading.effect({{"parallel.recomputed_layers", std::to_string(*layers)}});
}

std::string_view sharding_of(SettingsReading& reading) {
  const std::string fsdp = reading.word({"data_parallel_sharding_strategy"}).value_or("");
  if (fsdp == "optim_grads_params") return "parameters";
  if (fsdp == "optim_grads") return "gradients";
  return fsdp == "optim" || reading.flag({"use_distributed_optimizer"}).value_or(false) ? "optimizer"
                                                                                        : "none";
}

}  // namespace

void read_megatron_network(SettingsReading& reading) {
  const MegatronNetwork n = read_shape(reading);
  if (n.layers == 0 || n.width == 0 || n.heads == 0) return;
  const std::int64_t positions =
      std::max({n.sequence, size_of(reading, "max_position_embeddings"), std::int64_t{1}});
  const bool is_llama = n.gated || n.rms || n.groups != n.heads || n.experts > 0;
  ModelImportOptions options;
  if (n.sequence > 0) options.sequence = n.sequence;
  try {
    const ImportedModel model =
        import_model({"network", is_llama ? llama_config(n, positions) : gpt2_config(n, positions)}, options);
    reading.by_default(fmt::format("{} layers of {}, {} words", n.layers, n.width, n.words),
                       {{"model.network", fmt::format("'''\n{}'''", model.text)}});
  } catch (const InputError& error) {
    reading.mistake_at("hidden_size", fmt::format("no network has these sizes: {}", error.first_message()),
                       "num_attention_heads divides hidden_size, num_query_groups num_attention_heads");
  }
}

void read_megatron_layout(SettingsReading& reading) {
  const auto put = [&](std::string_view argument, std::string_view key) {
    if (const auto value = reading.integer({argument}, 1, 100'000'000))
      reading.effect({{fmt::format("parallel.{}", key), std::to_string(*value)}});
  };
  put("tensor_model_parallel_size", "tensor");
  put("pipeline_model_parallel_size", "pipeline");
  put("context_parallel_size", "context");
  put("expert_model_parallel_size", "expert");
  put("expert_tensor_parallel_size", "expert_tensor");
  put("micro_batch_size", "micro_batch");
  put("global_batch_size", "global_batch");
  put("seq_length", "sequence");
  const std::int64_t layers = reading.integer({"num_layers"}, 1, kMostSize).value_or(0),
                     pipeline = reading.integer({"pipeline_model_parallel_size"}, 1, kMostSize).value_or(1);
  if (const std::int64_t stages = virtual_stages(reading, layers, pipeline); stages > 1)
    reading.effect_of("num_layers_per_virtual_pipeline_stage",
                      {{"parallel.virtual_stages", std::to_string(stages)}});
  read_recomputation(reading);
  const bool by_local = reading.word({"transformer_impl"}).value_or("") == "local";
  const bool fp8 = reading.has("fp8_format");
  std::vector<SettingEffect> effects{
      {"parallel.framework", by_local ? "\"megatron-core-local\"" : "\"megatron\""},
      {"parallel.shard", fmt::format("\"{}\"", sharding_of(reading))},
      {"parallel.sequence_parallel", toml_flag(reading.flag({"sequence_parallel"}).value_or(false))},
      {"parallel.overlap_gradients", toml_flag(reading.flag({"overlap_grad_reduce"}).value_or(false))}};
  if (fp8) effects.push_back({"parallel.precision", "\"fp8\""});
  if (reading.flag({"optimizer_cpu_offload"}).value_or(false))
    effects.push_back({"parallel.offload", "\"optimizer\""});
  reading.by_default("Megatron-LM", std::move(effects));
  for (const char* told : {"use_distributed_optimizer", "sequence_parallel", "overlap_grad_reduce",
                           "fp8_format", "optimizer_cpu_offload", "data_parallel_sharding_strategy",
                           "transformer_impl", "overlap_param_gather", "use_megatron_fsdp", "num_experts"})
    reading.fate_of(told, KeyFate::usual, "part of the layout");
}

}  // namespace foretrain
