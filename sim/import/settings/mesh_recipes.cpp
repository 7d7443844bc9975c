// Recipes whose layout is sharding alone or axes of a mesh: LLM-Foundry, OLMo, MaxText.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/settings/readers.hpp"
#include "sim/scenario/catalog.hpp"

namespace foretrain {

namespace {

/// LLM-Foundry (scripts/train/yamls) and OLMo (configs/official), in Megatron-LM's words for the network.
constexpr KeyName kFoundryNames[] = {
    {"variables.*", "variables"},
    {"model.d_model", "hidden_size"},
    {"model.n_heads", "num_attention_heads"},
    {"model.n_layers", "num_layers"},
    {"model.n_kv_heads", "num_query_groups"},
    {"model.attn_config.kv_n_heads", "num_query_groups"},
    {"model.mlp_hidden_size", "mlp_hidden_size"},
    {"model.vocab_size", "vocab_size"},
    {"model.max_seq_len", "model_sequence"},
    {"model.max_sequence_length", "seq_length"},
    {"model.activation_type", "activation"},
    {"model.expansion_ratio", "expansion_ratio"},
    {"model.mlp_ratio", "expansion_ratio"},
    {"max_seq_len", "seq_length"},
    {"device_train_microbatch_size", "micro_batch_size"},
    {"global_train_batch_size", "global_batch_size"},
    {"fsdp_config.sharding_strategy", "sharding_strategy"},
    {"fsdp.sharding_strategy", "sharding_strategy"},
    {"fsdp_config.mixed_precision", "sums"},
    {"fsdp_config.activation_checkpointing", "checkpoints"},
    {"optimizer.name", "optimizer"},
};
constexpr KeyRule kFoundryRules[] = {
    {"fsdp_config.activation_cpu_offload", KeyReads::unmodelled, {}, "kept activations go to host memory"},
    {"fsdp_config.*", KeyReads::usual},
    {"fsdp.wrapping_strategy", KeyReads::usual, {}, "one unit for each block"},
    {"fsdp.*", KeyReads::usual},
    {"compile.*", KeyReads::unmodelled, {}, "compiled kernels; framework.execution says it"},
    {"variables.*", KeyReads::nothing},
    {"model.*", KeyReads::nothing, {}, "of the network"},
    {"tokenizer.*", KeyReads::nothing},
    {"train_loader.*", KeyReads::nothing},
    {"eval_loader.*", KeyReads::nothing},
    {"scheduler.*", KeyReads::nothing},
    {"optimizer.*", KeyReads::nothing},
    {"algorithms.*", KeyReads::nothing},
    {"callbacks.*", KeyReads::nothing},
    {"loggers.*", KeyReads::nothing},
    {"data.*", KeyReads::nothing},
    {"wandb.*", KeyReads::nothing},
    {"speed_monitor.*", KeyReads::nothing},
    {"max_grad_norm", KeyReads::usual},
    {"distributed_strategy", KeyReads::usual},
    {"device_eval_batch_size", KeyReads::nothing},
    {"max_duration", KeyReads::nothing},
    {"expansion_ratio", KeyReads::usual},
    {"model_sequence", KeyReads::usual}};

/// The network's words that Megatron-LM has no argument for.
std::int64_t feed_width(SettingsReading& reading) {
  if (const auto width = reading.integer({"mlp_hidden_size"}, 1, 1'000'000)) return *width;
  const auto hidden = reading.integer({"hidden_size"}, 1, 1'000'000);
  const auto ratio = reading.number({"expansion_ratio"});
  return hidden && ratio && *ratio > 0 && *ratio < 100
             ? static_cast<std::int64_t>(*ratio * static_cast<double>(*hidden))
             : 0;
}

void read_foundry_layout(SettingsReading& reading, bool is_olmo) {
  const auto put = [&](std::string_view name, std::string_view key) {
    if (const auto value = reading.integer({name}, 1, 100'000'000))
      reading.effect({{fmt::format("parallel.{}", key), std::to_string(*value)}});
  };
  put("micro_batch_size", "micro_batch");
  put("global_batch_size", "global_batch");
  put("seq_length", "sequence");
  const std::string sharding = reading.word({"sharding_strategy"}).value_or("full_shard");
  const std::string strategy = reading.word({"distributed_strategy"}).value_or("fsdp");
  const bool copies = sharding == "no_shard" || strategy == "ddp";
  const bool keeps =
      sharding.find("grad_op") != std::string::npos || sharding.find("zero2") != std::string::npos;
  const std::string shard = copies ? "none" : keeps ? "gradients" : "parameters";
  reading.fate_of("sharding_strategy", KeyFate::usual, "part of the layout");
  reading.by_default(is_olmo ? "OLMo" : "LLM-Foundry",
                     {{"parallel.framework", is_olmo ? "\"pytorch\"" : "\"llm-foundry\""},
                      {"parallel.shard", toml_text(shard)},
                      {"model.precision", "\"bf16\""}});
  if (const auto on = reading.flag({"checkpoints"}))
    reading.effect({{"parallel.recompute", *on ? "\"full\"" : "\"none\""}});
  if (const auto sums = reading.word({"sums"}))
    reading.effect({{"parallel.gradient_bytes", *sums == "pure" ? "2" : "4"}});
  const auto mode = reading.word({"activation_checkpointing"});
  if (mode && mode->find("whole_layer") == 0)
    reading.effect({{"parallel.recompute", "\"full\""}});
  else if (mode && *mode != "none" && *mode != "null")
    reading.fate(KeyFate::not_modelled, "some operators run again in backward");
  if (const auto type = reading.word({"precision"}))
    reading.effect({{"model.precision", type->find("bf16") != std::string::npos  ? "\"bf16\""
                                        : type->find("fp8") != std::string::npos ? "\"fp8\""
                                                                                 : "\"amp_fp16\""}});
}

/// Axes of MaxText's mesh (configs/base.yml), inside a slice (ici) and between slices (dcn).
struct MeshAxis {
  std::string_view name, key;  ///< empty: data-parallel
};
constexpr MeshAxis kMeshAxes[] = {{"tensor", "parallel.tensor"},
                                  {"pipeline", "parallel.pipeline"},
                                  {"context", "parallel.context"},
                                  {"sequence", "parallel.context"},
                                  {"expert", "parallel.expert"},
                                  {"fsdp", ""},
                                  {"data", ""}};

constexpr KeyName kMaxtextNames[] = {{"base_emb_dim", "hidden_size"},
                                     {"base_num_decoder_layers", "num_layers"},
                                     {"base_num_query_heads", "num_attention_heads"},
                                     {"base_num_kv_heads", "num_query_groups"},
                                     {"base_mlp_dim", "ffn_hidden_size"},
                                     {"max_target_length", "seq_length"},
                                     {"num_experts_per_tok", "moe_router_topk"}};

/// What remat_policy keeps, as parallel.recompute; others are not modelled.
constexpr std::pair<std::string_view, std::string_view> kRematerialization[] = {{"full", "full"},
                                                                                {"save_qkv_proj", "save_qkv"},
                                                                                {"qkv_proj", "save_qkv"},
                                                                                {"minimal", "none"},
                                                                                {"minimal_flash", "none"}};

void read_axes(SettingsReading& reading) {
  bool shards = false;
  for (const MeshAxis& axis : kMeshAxes) {
    std::int64_t all = 1;
    bool says = false;
    for (const std::string_view where : {"ici", "dcn"}) {
      const std::string path = fmt::format("{}_{}_parallelism", where, axis.name);
      const auto value = reading.integer({path}, -1, 100'000);
      if (!value) continue;
      says = true;
      reading.fate(KeyFate::usual, "an axis of the mesh");
      shards = shards || (axis.name == "fsdp" && (*value > 1 || *value == -1));
      all *= std::max<std::int64_t>(1, *value);  // -1: what the others leave
    }
    if (says && !axis.key.empty() && all > 1)
      reading.effect_of(fmt::format("{}_{}_parallelism", "ici", axis.name),
                        {{std::string(axis.key), std::to_string(all)}});
  }
  reading.by_default("MaxText", {{"parallel.framework", "\"maxtext\""},
                                 {"parallel.shard", shards ? "\"parameters\"" : "\"none\""},
                                 {"model.precision", "\"bf16\""}});
}

}  // namespace

std::string catalog_model(std::string_view family, std::string_view size) {
  if (!size.empty())
    if (std::string model = model_named(fmt::format("{}-{}", family, size)); !model.empty()) return model;
  return model_named(std::string(family));
}

bool is_llm_foundry(const YamlNode& tree) {
  const auto has = [&](std::string_view name) { return !tree.at(name).is_null(); };
  return has("device_train_microbatch_size") && has("global_train_batch_size");
}

void read_llm_foundry(SettingsReading& reading) {
  reading.rename(kFoundryNames);
  const bool is_olmo = reading.has("fsdp") || reading.has("distributed_strategy") ||
                       reading.has("activation_checkpointing") || reading.has("run_name_prefix");
  read_sized_network(reading, feed_width(reading));
  read_foundry_layout(reading, is_olmo);
  if (const auto name = reading.word({"optimizer"}))
    put_optimizer(reading, name->find("adamw") != std::string::npos ? "adamw" : *name);
  reading.apply(kFoundryRules);
}

bool is_maxtext(const YamlNode& tree) {
  const auto has = [&](std::string_view name) { return !tree.at(name).is_null(); };
  return has("per_device_batch_size") &&
         (has("remat_policy") || has("base_emb_dim") || has("max_target_length") ||
          has("ici_fsdp_parallelism") || has("ici_tensor_parallelism"));
}

void read_maxtext(SettingsReading& reading) {
  reading.rename(kMaxtextNames);
  if (const auto name = reading.word({"model_name"})) {
    const std::string model = catalog_model(*name, "");
    if (model.empty())
      reading.fate(KeyFate::open, "--model NAME says which network");
    else
      reading.effect({{"model.name", toml_text(model)}});
  } else {
    read_gated_network(reading);
  }
  read_axes(reading);
  const auto batch = reading.number({"per_device_batch_size"});
  if (batch && *batch >= 1 && *batch <= 1e6) {
    std::vector<SettingEffect> effects{
        {"parallel.micro_batch", fmt::format("{}", static_cast<std::int64_t>(*batch))}};
    reading.effect(std::move(effects), "of a device, by which the axes of tensors are to be multiplied");
  }
  if (const auto tokens = reading.integer({"seq_length"}, 1, 100'000'000))
    reading.effect({{"parallel.sequence", std::to_string(*tokens)}});
  if (const auto policy = reading.word({"remat_policy"})) {
    const auto* const row = std::ranges::find(kRematerialization, std::string_view(*policy),
                                              &std::pair<std::string_view, std::string_view>::first);
    if (row == std::end(kRematerialization))
      reading.fate(KeyFate::not_modelled, "another choice of what runs again in backward");
    else
      reading.effect({{"parallel.recompute", toml_text(row->second)}});
  }
  if (const auto kind = reading.word({"quantization"}); kind && kind->find("fp8") != std::string::npos)
    reading.effect({{"parallel.precision", "\"fp8\""}});
  static constexpr KeyRule kRules[] = {{"hardware", KeyReads::nothing},
                                       {"dataset_type", KeyReads::nothing},
                                       {"dataset_path", KeyReads::nothing},
                                       {"base_output_directory", KeyReads::nothing},
                                       {"run_name", KeyReads::nothing},
                                       {"steps", KeyReads::nothing},
                                       {"attention", KeyReads::usual},
                                       {"dtype", KeyReads::usual},
                                       {"logits_dot_in_fp32", KeyReads::unmodelled, {}, "the head in 32 bit"},
                                       {"scan_layers", KeyReads::usual},
                                       {"enable_checkpointing", KeyReads::nothing},
                                       {"async_checkpointing", KeyReads::nothing},
                                       {"reuse_example_batch", KeyReads::nothing},
                                       {"profiler", KeyReads::unmodelled, {}, "profiled steps are slower"},
                                       {"packing", KeyReads::nothing},
                                       {"base_config", KeyReads::nothing}};
  reading.apply(kRules);
}

}  // namespace foretrain
