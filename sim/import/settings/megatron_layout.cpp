// Writes a layout of Megatron-LM as [parallel], and its network as a model file.
//
// The network's arguments become a config.json of transformers (GPT-2, Llama, Mixtral or DeepSeek), whose
// reader knows the layers. So both ways to a network give the same layers.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/models/model_file.hpp"
#include "sim/import/settings/readers.hpp"
#include "sim/workload/transformer/layer_program.hpp"

namespace foretrain {

namespace {

/// Largest size of the network that is read.
constexpr std::int64_t kMostSize = 1'000'000;

/// Returns an argument of the network; 0: not there. Its value goes into the network, which the key's account
/// tells.
std::int64_t size_of(SettingsReading& reading, std::string_view name) {
  const auto value = reading.integer({name}, 1, kMostSize);
  if (value) reading.fate(KeyFate::usual, "part of the network");
  return value.value_or(0);
}

/// Returns whether a flag of the network is set.
bool has_flag(SettingsReading& reading, std::string_view name) {
  const bool on = reading.has(name) && reading.flag({name}).value_or(false);
  if (on) reading.fate(KeyFate::usual, "part of the network");
  return on;
}

/// Returns the words of the tokenizer, which arguments seldom have: those of Llama, or those of GPT-2 as
/// Megatron-LM pads them.
std::int64_t words_of(SettingsReading& reading) {
  if (const std::int64_t said = size_of(reading, "vocab_size"); said > 0) return said;
  const std::string tokenizer = reading.word({"tokenizer_type"}).value_or("");
  return tokenizer.find("llama") != std::string::npos ? 32'000 : 50'304;
}

/// Returns the default width of the feed-forward part (megatron/training/arguments.py): four times the width,
/// with SwiGLU two thirds of that in steps of 64.
std::int64_t usual_inner(std::int64_t width, bool gated) {
  return gated ? std::max<std::int64_t>(64, 4 * width * 2 / 3 / 64 * 64) : 4 * width;
}

/// Ranks and head sizes of multi-head latent attention (DeepSeek), with Megatron-LM's defaults.
struct LatentSizes {
  std::int64_t query_rank = 0, key_rank = 512, plain = 128, rotary = 64, value = 128;
};

/// The network of the arguments. 0: not given, or not used.
struct MegatronNetwork {
  std::int64_t layers = 0, width = 0, heads = 0, inner = 0, groups = 0, sequence = 0, words = 0, experts = 0,
               expert_inner = 0, top = 0, shared = 0, dense_layers = 0;
  bool gated = false, rms = false, untied = false;
  std::optional<LatentSizes> latent{};
};

/// Reads the sizes of latent attention; nothing where the network has none.
std::optional<LatentSizes> read_latent(SettingsReading& reading) {
  if (!has_flag(reading, "multi_latent_attention")) return std::nullopt;
  LatentSizes sizes;
  sizes.query_rank = size_of(reading, "q_lora_rank");
  for (const auto& [name, place] : {std::pair{"kv_lora_rank", &sizes.key_rank},
                                    {"qk_head_dim", &sizes.plain},
                                    {"qk_pos_emb_head_dim", &sizes.rotary},
                                    {"v_head_dim", &sizes.value}})
    if (const std::int64_t said = size_of(reading, name); said > 0) *place = said;
  return sizes;
}

/// Returns the dense layers in front of those with experts, from moe_layer_freq as "([0]*3+[1]*58)" or [0, 0,
/// 0, 1, …].
std::int64_t read_dense_layers(SettingsReading& reading) {
  const YamlNode* given = reading.find({"moe_layer_freq"});
  if (given == nullptr) return 0;
  reading.fate(KeyFate::usual, "part of the network");
  std::int64_t dense = 0;
  for (const YamlNode& item : given->items) {
    if (item.text != "0") return dense;
    ++dense;
  }
  constexpr std::string_view kZeros = "[0]*";
  const std::size_t zeros = given->text.find(kZeros);
  if (zeros == std::string::npos) return dense;
  int count = 0;
  const std::string_view digits = std::string_view(given->text).substr(zeros + kZeros.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), count);
  return std::clamp(count, 0, 10'000);
}

/// Reads all sizes of the network.
MegatronNetwork read_shape(SettingsReading& reading, const MegatronDialect& dialect) {
  MegatronNetwork n{.layers = size_of(reading, "num_layers"),
                    .width = size_of(reading, "hidden_size"),
                    .heads = size_of(reading, "num_attention_heads")};
  const std::string activation = reading.word({"activation"}).value_or("");
  if (!activation.empty()) reading.fate(KeyFate::usual, "part of the network");
  // A gate is named by a flag, or by the activation's name.
  n.gated = has_flag(reading, "swiglu") || has_flag(reading, "gated_linear_unit") ||
            activation.find("glu") != std::string::npos;
  n.untied = has_flag(reading, "untie_embeddings_and_output_weights");
  if (const auto shares = reading.flag({"share_embeddings_and_output_weights"})) {
    reading.fate(KeyFate::usual, "part of the network");
    n.untied = !*shares;
  }
  n.rms = reading.word({"normalization"}).value_or("") == "rmsnorm";
  // The width of the feed-forward part has a default that depends on the gate.
  n.inner = size_of(reading, "ffn_hidden_size");
  if (n.inner == 0) n.inner = usual_inner(n.width, n.gated);
  // Groups of keys and values; as many as heads where they do not count.
  const std::int64_t groups = size_of(reading, "num_query_groups");
  const bool counts = has_flag(reading, "group_query_attention") || !dialect.groups_need_flag;
  n.groups = counts && groups > 0 ? groups : n.heads;
  n.sequence = size_of(reading, "seq_length");
  n.experts = size_of(reading, "num_experts");
  n.expert_inner = size_of(reading, "moe_ffn_hidden_size");
  n.top = size_of(reading, "moe_router_topk");
  if (n.top == 0) n.top = 2;
  n.shared = size_of(reading, "moe_shared_expert_intermediate_size");
  n.dense_layers = read_dense_layers(reading);
  n.latent = read_latent(reading);
  n.words = words_of(reading);
  return n;
}

/// Returns a config of GPT-2 with these sizes: learned positions, LayerNorm, no gate.
std::string gpt2_config(const MegatronNetwork& n, std::int64_t positions) {
  return fmt::format(
      R"({{"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": {}, "n_embd": {},
"n_head": {}, "n_inner": {}, "n_positions": {}, "vocab_size": {}, "activation_function": "gelu",
"tie_word_embeddings": {}}})",
      n.layers, n.width, n.heads, n.inner, positions, n.words, !n.untied);
}

/// Returns a config of DeepSeek-V3 with these sizes. Its reader wants at least one dense layer and one shared
/// expert.
std::string deepseek_config(const MegatronNetwork& n, std::int64_t positions) {
  const LatentSizes& l = *n.latent;
  const bool mixes = n.experts > 0;
  const std::int64_t expert = std::max<std::int64_t>(1, n.expert_inner > 0 ? n.expert_inner : n.inner);
  const std::string experts = fmt::format(
      "\"first_k_dense_replace\": {}, \"n_routed_experts\": {}, \"num_experts_per_tok\": {}, "
      "\"moe_intermediate_size\": {}, \"n_shared_experts\": {}, ",
      mixes ? std::max<std::int64_t>(1, n.dense_layers) : n.layers, mixes ? n.experts : 1, mixes ? n.top : 1,
      expert, std::max<std::int64_t>(1, n.shared / expert));
  return fmt::format(
      R"({{"model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"], "num_hidden_layers": {},
"hidden_size": {}, "num_attention_heads": {}, "num_key_value_heads": {}, "intermediate_size": {},
{}"q_lora_rank": {}, "kv_lora_rank": {}, "qk_nope_head_dim": {}, "qk_rope_head_dim": {}, "v_head_dim": {},
"hidden_act": "silu", "max_position_embeddings": {}, "vocab_size": {}, "tie_word_embeddings": {}}})",
      n.layers, n.width, n.heads, n.heads, n.inner, experts,
      l.query_rank > 0 ? std::to_string(l.query_rank) : "null", l.key_rank, l.plain, l.rotary, l.value,
      positions, n.words, !n.untied);
}

/// Returns a config of Llama, or of Mixtral where the network has experts.
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

/// Returns the chunks of layers on each stage of an interleaved pipeline; 0: no interleaving, or one that
/// does not divide.
std::int64_t virtual_stages(SettingsReading& reading, std::int64_t layers, std::int64_t pipeline) {
  const auto each = reading.integer({"num_layers_per_virtual_pipeline_stage"}, 1, kMostSize);
  if (!each || pipeline < 2 || layers == 0 || layers % (pipeline * *each) != 0) return 0;
  return layers / (pipeline * *each);
}

/// Reads recompute_modules, a list or one text. Modules that are not modelled are named in a note.
void read_modules(SettingsReading& reading) {
  const YamlNode* given = reading.find({"recompute_modules"});
  if (given == nullptr) return;
  std::vector<std::string> words;
  for (const YamlNode& item : given->items) words.push_back(item.text);
  std::string word;
  // A text is cut at everything that no name has: commas, blanks, brackets.
  for (const char c : given->text + " ") {
    const bool is_letter = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (is_letter) word += c;
    if (!is_letter && !word.empty()) words.push_back(std::exchange(word, ""));
  }
  if (words.empty()) return reading.effect({{"parallel.recompute", "\"none\""}});
  std::string known, other;
  for (const std::string& name : words) {
    std::string& list = find_layer_modules(name) ? known : other;
    list += (list.empty() ? "" : ", ") + name;
  }
  if (known.empty())
    return reading.fate(KeyFate::not_modelled,
                        fmt::format("foretrain does not model these modules: {}", other));
  reading.effect({{"parallel.recompute_modules", toml_text(known)}},
                 other.empty() ? "" : fmt::format("foretrain does not model these modules: {}", other));
}

/// Reads which activations are computed again in backward.
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
  read_modules(reading);
}

/// Returns what the data-parallel ranks share: nothing, optimizer, gradients or parameters.
std::string_view sharding_of(SettingsReading& reading, const MegatronDialect& dialect) {
  const std::string fsdp = reading.word({"data_parallel_sharding_strategy"}).value_or("");
  if (fsdp == "optim_grads_params") return "parameters";
  if (fsdp == "optim_grads") return "gradients";
  if (fsdp == "optim") return "optimizer";
  if (const auto stage = reading.integer({"zero_stage"}, 0, 3)) {
    constexpr std::string_view kStages[] = {"none", "optimizer", "gradients", "parameters"};
    return kStages[*stage];
  }
  return reading.flag({"use_distributed_optimizer"}).value_or(dialect.shards_by_default) ? "optimizer"
                                                                                         : "none";
}

/// A value of an argument, and the key of [parallel] that it sets.
struct LayoutWord {
  std::string_view argument, word, key, value;
};
/// Rows of one argument are alternatives.
constexpr LayoutWord kLayoutWords[] = {
    {"moe_token_dispatcher_type", "alltoall", "dispatch", "\"all_to_all\""},
    {"moe_token_dispatcher_type", "alltoall_seq", "dispatch", "\"all_to_all\""},
    {"moe_token_dispatcher_type", "allgather", "dispatch", "\"all_gather\""},
    {"moe_token_dispatcher_type", "flex", "dispatch", "\"deep_ep\""},
    {"moe_router_force_load_balancing", "true", "imbalance", "1.0"},
    {"overlap_moe_expert_parallel_comm", "true", "overlap_experts", "true"},
    {"tp_comm_overlap", "true", "tensor_overlap", "\"pieces\""},
    {"enable_cuda_graph", "true", "cuda_graphs", "true"},
    {"cuda_graph_impl", "local", "cuda_graphs", "true"},
    {"cuda_graph_impl", "transformer_engine", "cuda_graphs", "true"},
    {"cuda_graph_impl", "full_iteration", "cuda_graphs", "true"},
    {"cp_comm_type", "p2p", "context_exchange", "\"ring\""},
    {"cp_comm_type", "a2a", "context_exchange", "\"ulysses\""},
    {"cp_comm_type", "all_gather", "context_exchange", "\"all_gather\""},
    {"grad_reduce_in_bf16", "true", "gradient_bytes", "2"},
    {"grad_reduce_in_fp32", "false", "gradient_bytes", "2"},
    {"grad_reduce_in_fp32", "true", "gradient_bytes", "4"},
    {"exp_avg_dtype", "bf16", "moment_bytes", "2"},
    {"exp_avg_dtype", "bfloat16", "moment_bytes", "2"},
    {"exp_avg_dtype", "torch.bfloat16", "moment_bytes", "2"},
    {"exp_avg_dtype", "fp16", "moment_bytes", "2"},
    {"exp_avg_dtype", "fp8", "moment_bytes", "1"},
    {"cpu_offloading", "true", "offload", "\"activations\""},
};

/// Applies the rows. A second pass tells values that no row has.
void read_layout_words(SettingsReading& reading) {
  for (const LayoutWord& row : kLayoutWords) {
    const YamlNode* given = reading.find({row.argument});
    if (given == nullptr || given->kind != SettingKind::scalar) continue;
    const std::string said = lower_case(given->text);
    const bool is_it = said == row.word || (row.word == "true" && flag_in(said).value_or(false)) ||
                       (row.word == "false" && !flag_in(said).value_or(true));
    if (is_it) reading.effect({{fmt::format("parallel.{}", row.key), std::string(row.value)}});
  }
  for (const LayoutWord& row : kLayoutWords) {
    const YamlNode* given = reading.find({row.argument});
    if (given == nullptr || given->kind != SettingKind::scalar) continue;
    const std::string said = lower_case(given->text);
    const auto has_row = [&](const LayoutWord& other) {
      const bool is_flag = flag_in(said).has_value() && flag_in(said) == flag_in(other.word);
      return other.argument == row.argument && (other.word == said || is_flag);
    };
    if (std::ranges::any_of(kLayoutWords, has_row)) continue;
    if (said == "none" || said == "null" || flag_in(said) == false)
      reading.fate(KeyFate::usual);
    else if (said != kNotKnown)
      reading.fate(KeyFate::not_modelled, "foretrain does not model this value");
  }
}

/// Makes the network's file, where layers, width and heads are there. Sizes that do not fit are a mistake.
void put_network(SettingsReading& reading, const MegatronNetwork& n) {
  if (n.layers == 0 || n.width == 0 || n.heads == 0) return;
  constexpr std::int64_t kUsualSequence = 4096;  // of a recipe that does not tell it
  std::int64_t positions = std::max(n.sequence, size_of(reading, "max_position_embeddings"));
  if (positions == 0) positions = kUsualSequence;
  if (!n.latent && (n.shared > 0 || n.dense_layers > 0))
    for (const char* part : {"moe_shared_expert_intermediate_size", "moe_layer_freq"})
      reading.fate_of(part, KeyFate::not_modelled,
                      "shared experts and dense layers in front are read with multi-latent attention alone");
  // A feature that GPT-2's form lacks makes the network Llama's form.
  const bool is_llama = n.gated || n.rms || n.groups != n.heads || n.experts > 0;
  ModelImportOptions options;
  if (n.sequence > 0) options.sequence = n.sequence;
  try {
    const ImportedModel model = import_model({"network", n.latent   ? deepseek_config(n, positions)
                                                         : is_llama ? llama_config(n, positions)
                                                                    : gpt2_config(n, positions)},
                                             options);
    reading.by_default(fmt::format("{} layers of {}, {} words", n.layers, n.width, n.words),
                       {{"model.network", fmt::format("'''\n{}'''", model.text)}});
  } catch (const InputError& error) {
    reading.mistake_at("hidden_size", fmt::format("no network has these sizes: {}", error.first_message()),
                       "num_attention_heads divides hidden_size, num_query_groups num_attention_heads");
  }
}

}  // namespace

/// Tools that use these names have groups of heads without a flag.
void read_sized_network(SettingsReading& reading, std::int64_t inner) {
  MegatronNetwork n = read_shape(reading, {.groups_need_flag = false});
  if (inner > 0) n.inner = inner;
  put_network(reading, n);
}

/// Llama's form has a gate and RMSNorm.
void read_gated_network(SettingsReading& reading) {
  MegatronNetwork n = read_shape(reading, {.groups_need_flag = false});
  n.gated = n.rms = true;
  put_network(reading, n);
}

void read_megatron_network(SettingsReading& reading, const MegatronDialect& dialect) {
  put_network(reading, read_shape(reading, dialect));
}

/// Reads every argument of the layout. What is a part of a combined effect is told at the end.
void read_megatron_layout(SettingsReading& reading, const MegatronDialect& dialect) {
  const auto put = [&](std::string_view argument, std::string_view key) {
    if (const auto value = reading.integer({argument}, 1, 100'000'000))
      reading.effect({{fmt::format("parallel.{}", key), std::to_string(*value)}});
  };
  // Degrees and sizes that [parallel] has under another name.
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
  put("num_virtual_stages_per_pipeline_rank", "virtual_stages");
  put("mtp_num_layers", "next_tokens");
  if (reading.integer({"cpu_offloading_num_layers"}, 0, kMostSize).value_or(0) > 0) {
    put("cpu_offloading_num_layers", "offloaded_layers");
    reading.by_default("cpu_offloading_num_layers keeps activations in host memory",
                       {{"parallel.offload", "\"activations\""}});
  }
  if (const auto factor = reading.number({"moe_expert_capacity_factor"}); factor && *factor > 0)
    reading.effect({{"parallel.capacity_factor", fmt::format("{}", *factor)}});
  read_layout_words(reading);
  read_recomputation(reading);
  // Options that several arguments decide together.
  const bool by_local = reading.word({"transformer_impl"}).value_or("") == "local";
  const auto format = reading.word({"fp8_format"});
  const bool fp8 = format && *format != "none";
  std::vector<SettingEffect> effects{
      {"parallel.framework", by_local ? "\"megatron-core-local\"" : toml_text(dialect.framework)},
      {"parallel.shard", fmt::format("\"{}\"", sharding_of(reading, dialect))},
      {"parallel.sequence_parallel", toml_flag(reading.flag({"sequence_parallel"}).value_or(false))},
      {"parallel.overlap_gradients", toml_flag(reading.flag({"overlap_grad_reduce"}).value_or(false))}};
  if (fp8) effects.push_back({"parallel.precision", "\"fp8\""});
  if (reading.flag({"optimizer_cpu_offload"}).value_or(false))
    effects.push_back({"parallel.offload", "\"optimizer\""});
  reading.by_default(dialect.what, std::move(effects));
  // Arguments whose value is in the effects above.
  for (const char* told : {"use_distributed_optimizer", "sequence_parallel", "overlap_grad_reduce",
                           "fp8_format", "optimizer_cpu_offload", "data_parallel_sharding_strategy",
                           "transformer_impl", "overlap_param_gather", "use_megatron_fsdp", "num_experts",
                           "use_precision_aware_optimizer", "exp_avg_sq_dtype", "zero_stage"})
    reading.fate_of(told, KeyFate::usual, "part of the layout");
}

}  // namespace foretrain
