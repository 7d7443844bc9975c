// Reads recipes whose layout is sharding alone, or axes of a mesh: LLM-Foundry and OLMo, and MaxText.
//
//   global_train_batch_size: 256, device_train_microbatch_size: 8, fsdp_config: {sharding_strategy:
//   FULL_SHARD} per_device_batch_size: 4, ici_fsdp_parallelism: 16, remat_policy: full     (MaxText)
//
// The network's keys are renamed to those of Megatron-LM, whose reader makes the model file.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/settings/readers.hpp"
#include "sim/scenario/catalog.hpp"

namespace foretrain {

namespace {

/// Names of LLM-Foundry (scripts/train/yamls) and OLMo (configs/official), with Megatron-LM's words for the
/// network.
constexpr KeyName kFoundryNames[] = {
    {"variables.*", "variables"},
    // The network.
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
    {"model.weight_tying", "share_embeddings_and_output_weights"},
    {"model.pretrained_model_name_or_path", "pretrained_model"},
    {"model.expansion_ratio", "expansion_ratio"},
    {"model.mlp_ratio", "expansion_ratio"},
    // Batch and length of samples.
    {"max_seq_len", "seq_length"},
    {"device_train_microbatch_size", "micro_batch_size"},
    {"global_train_batch_size", "global_batch_size"},
    // FSDP, whose table the two tools name differently.
    {"fsdp_config.sharding_strategy", "sharding_strategy"},
    {"fsdp.sharding_strategy", "sharding_strategy"},
    {"fsdp_config.mixed_precision", "sums"},
    {"fsdp_config.activation_checkpointing", "checkpoints"},
    {"optimizer.name", "optimizer"},
};
/// Keys that no function below reads.
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

/// Returns the width of the feed-forward part, for which Megatron-LM has no argument of this form; 0: not
/// given. OLMo counts gate and up of a gated part together, so a part is half of it.
std::int64_t feed_width(SettingsReading& reading, bool is_olmo) {
  const bool is_gated = reading.word({"activation"}).value_or("").find("glu") != std::string::npos;
  const std::int64_t parts = is_olmo && is_gated ? 2 : 1;
  if (const auto width = reading.integer({"mlp_hidden_size"}, 1, 1'000'000)) {
    reading.fate(KeyFate::usual, "part of the network");
    return *width / parts;
  }
  const auto hidden = reading.integer({"hidden_size"}, 1, 1'000'000);
  const auto ratio = reading.number({"expansion_ratio"});
  return hidden && ratio && *ratio > 0 && *ratio < 100
             ? static_cast<std::int64_t>(*ratio * static_cast<double>(*hidden)) / parts
             : 0;
}

/// Reads batch, sharding, recomputation and precision of LLM-Foundry and OLMo.
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
  // Sharding strategies of FSDP as what the ranks share.
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
  // Composer's policy "PURE" sums gradients in 16 bits.
  if (const auto sums = reading.word({"sums"}))
    reading.effect({{"parallel.gradient_bytes", *sums == "pure" ? "2" : "4"}});
  const auto mode = reading.word({"activation_checkpointing"});
  if (mode && mode->find("whole_layer") == 0)
    reading.effect({{"parallel.recompute", "\"full\""}});
  else if (mode && *mode != "none" && *mode != "null")
    reading.fate(KeyFate::not_modelled, "some operators run again in backward");
  if (const auto type = reading.word({"precision"}); type && type->find("32") != std::string::npos)
    reading.fate(KeyFate::not_modelled, "[parallel] computes products in 16 bit or less");
  else if (type)
    reading.effect({{"model.precision", type->find("bf16") != std::string::npos  ? "\"bf16\""
                                        : type->find("fp8") != std::string::npos ? "\"fp8\""
                                                                                 : "\"amp_fp16\""}});
}

/// An axis of MaxText's mesh (configs/base.yml). It may lie inside a slice (ici) and between slices (dcn);
/// the product of both counts.
struct MeshAxis {
  // Key of the scenario; empty: a data-parallel axis.
  std::string_view name, key;
};
/// MaxText's axes; two of them may cut the sequence.
constexpr MeshAxis kMeshAxes[] = {{"tensor", "parallel.tensor"},
                                  {"pipeline", "parallel.pipeline"},
                                  {"context", "parallel.context"},
                                  {"sequence", "parallel.context"},
                                  {"expert", "parallel.expert"},
                                  {"fsdp", ""},
                                  {"data", ""}};

/// Names of MaxText, with Megatron-LM's words for the network.
constexpr KeyName kMaxtextNames[] = {{"base_emb_dim", "hidden_size"},
                                     {"base_num_decoder_layers", "num_layers"},
                                     {"base_num_query_heads", "num_attention_heads"},
                                     {"base_num_kv_heads", "num_query_groups"},
                                     {"base_mlp_dim", "ffn_hidden_size"},
                                     {"max_target_length", "seq_length"},
                                     {"num_experts_per_tok", "moe_router_topk"}};

/// Values of remat_policy as parallel.recompute; other policies are not modelled.
constexpr std::pair<std::string_view, std::string_view> kRematerialization[] = {{"full", "full"},
                                                                                {"save_qkv_proj", "save_qkv"},
                                                                                {"qkv_proj", "save_qkv"},
                                                                                {"minimal", "none"},
                                                                                {"minimal_flash", "none"}};

/// Reads the degrees of the mesh. Returns the devices of a replica, which share its batch.
std::int64_t read_axes(SettingsReading& reading) {
  bool shards = false;
  std::vector<SettingEffect> degrees;
  std::int64_t replica = 1;
  for (const std::string_view key :
       {"parallel.tensor", "parallel.pipeline", "parallel.context", "parallel.expert", ""}) {
    std::int64_t all = 1;
    for (const MeshAxis& axis : kMeshAxes) {
      if (axis.key != key) continue;
      for (const std::string_view where : {"ici", "dcn"}) {
        const auto value = reading.integer({fmt::format("{}_{}_parallelism", where, axis.name)}, -1, 100'000);
        if (!value) continue;
        reading.fate(KeyFate::usual, "an axis of the mesh");
        // -1 takes the devices that the other axes leave.
        shards = shards || (axis.name == "fsdp" && (*value > 1 || *value == -1));
        all = std::min<std::int64_t>(all * std::max<std::int64_t>(1, *value),
                                     100'000);  // -1: what the others leave
      }
    }
    if (key.empty() || all == 1) continue;
    degrees.push_back({std::string(key), std::to_string(all)});
    if (key != "parallel.expert") replica *= all;
  }
  if (!degrees.empty()) reading.by_default("the axes of the mesh", std::move(degrees));
  reading.by_default("MaxText", {{"parallel.framework", "\"maxtext\""},
                                 {"parallel.shard", shards ? "\"parameters\"" : "\"none\""},
                                 {"model.precision", "\"bf16\""}});
  return replica;
}

}  // namespace

/// The catalog's search for names accepts spellings such as "llama3" and "Meta-Llama-3-8B".
std::string catalog_model(std::string_view family, std::string_view size) {
  return model_named(size.empty() ? std::string(family) : fmt::format("{}-{}", family, size));
}

/// Both batches under these names stand in files of these two tools only.
bool is_llm_foundry(const YamlNode& tree) {
  const auto has = [&](std::string_view name) { return !tree.at(name).is_null(); };
  return has("device_train_microbatch_size") && has("global_train_batch_size");
}

/// OLMo has nearly the same keys; a few of its own tell the two apart.
void read_llm_foundry(SettingsReading& reading) {
  reading.rename(kFoundryNames);
  // Keys that only OLMo has.
  const bool is_olmo = reading.has("fsdp") || reading.has("distributed_strategy") ||
                       reading.has("activation_checkpointing") || reading.has("run_name_prefix");
  read_sized_network(reading, feed_width(reading, is_olmo));
  read_foundry_layout(reading, is_olmo);
  if (const auto name = reading.word({"pretrained_model"}); name && !reading.has("hidden_size")) {
    const std::string model = catalog_model(*name, "");
    if (model.empty())
      reading.fate(KeyFate::open, "--model NAME says which network");
    else
      reading.effect({{"model.name", toml_text(model)}});
  }
  if (const auto name = reading.word({"optimizer"}))
    put_optimizer(reading, name->find("adamw") != std::string::npos ? "adamw" : *name);
  reading.apply(kFoundryRules);
}

/// Hugging Face and MaxText both have a batch per device; a second key of MaxText must be there.
bool is_maxtext(const YamlNode& tree) {
  const auto has = [&](std::string_view name) { return !tree.at(name).is_null(); };
  return has("per_device_batch_size") &&
         (has("remat_policy") || has("base_emb_dim") || has("max_target_length") ||
          has("ici_fsdp_parallelism") || has("ici_tensor_parallelism"));
}

/// A model's name replaces the sizes of layers, which otherwise make the network.
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
  // The batch of a device becomes that of a replica.
  const std::int64_t replica = read_axes(reading);
  const auto batch = reading.number({"per_device_batch_size"});
  // per_device_batch_size may be a fraction: a replica of several devices has whole sequences.
  if (const double all = batch.value_or(0) * static_cast<double>(replica); all >= 1 && all <= 1e6)
    reading.effect({{"parallel.micro_batch", fmt::format("{}", static_cast<std::int64_t>(all))}},
                   fmt::format("a replica of {} devices has so many sequences", replica));
  else if (batch)
    reading.fate(KeyFate::not_modelled, "a replica needs at least one sequence");
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
