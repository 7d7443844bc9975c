// Reads recipes of tools that start Megatron-LM's layers: NeMo, Megatron-Bridge, Primus, GPT-NeoX. Each tool
// is a table of names (KeyName). After the renaming, Megatron-LM's own reader understands the keys.
//
//   model: {tensor_model_parallel_size: 4, micro_batch_size: 1}     (NeMo)
//   modules: {pre_trainer: {overrides: {micro_batch_size: 2}}}      (Primus)
//   "pipe-parallel-size": 2, "train_micro_batch_size_per_gpu": 4    (GPT-NeoX)
//
// What the tools have beside the layout is read here: GPUs, precision, optimizer, attention.
#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// Names of NeMo 1 (examples/nlp/language_modeling/conf/megatron_gpt_config.yaml), of NeMo 2, and of
/// Megatron-Bridge (ConfigContainer: model, train, ddp, optimizer, dataset), also as assignments in Python.
/// The first row that fits counts, so special names stand before "model.*".
constexpr KeyName kNemoNames[] = {
    // Names inside `model` that differ from Megatron-LM's.
    {"model.activations_checkpoint_granularity", "recompute_granularity"},
    {"model.activations_checkpoint_method", "recompute_method"},
    {"model.activations_checkpoint_num_layers", "recompute_num_layers"},
    {"model.virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank"},
    {"virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank"},
    {"model.encoder_seq_length", "seq_length"},
    {"model.num_moe_experts", "num_experts"},
    {"num_moe_experts", "num_experts"},
    {"model.ub_tp_comm_overlap", "tp_comm_overlap"},
    {"comm_overlap.tp_comm_overlap", "tp_comm_overlap"},
    {"mixed_precision.fp8", "fp8"},
    // NeMo 1 has the optimizer inside `model`.
    {"model.optim.name", "optim_name"},
    {"model.optim.overlap_grad_sync", "overlap_grad_reduce"},
    {"model.optim.grad_sync_dtype", "grad_sync_dtype"},
    {"model.optim.*", "optim"},
    {"model.data.*", "data"},
    {"model.tokenizer.*", "tokenizer"},
    // All other keys of these tables have Megatron-LM's names.
    {"model.*", ""},
    {"train.*", ""},
    {"ddp.*", ""},
    {"optimizer.optimizer", "optimizer"},
    {"optimizer.*", ""},
    // Megatron-Bridge's data.
    {"dataset.sequence_length", "seq_length"},
    {"dataset.seq_length", "seq_length"},
    {"dataset.num_workers", "num_workers"},
    // NeMo 2 in Python: the trainer's strategy, and its calls.
    {"trainer.strategy.ddp.*", ""},
    {"trainer.strategy.num_nodes", "trainer.num_nodes"},
    {"trainer.strategy.virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank"},
    {"trainer.strategy.*", ""},
    // Arguments of NeMo 2's data modules.
    {"data.micro_batch_size", "micro_batch_size"},
    {"data.global_batch_size", "global_batch_size"},
    {"data.seq_length", "seq_length"},
};

/// Keys that no reader needs.
constexpr KeyRule kNemoRules[] = {{"exp_manager.*", KeyReads::nothing},
                                  {"optim.*", KeyReads::nothing},
                                  {"optim", KeyReads::nothing},
                                  {"data.*", KeyReads::nothing},
                                  {"data", KeyReads::nothing},
                                  {"tokenizer.*", KeyReads::nothing},
                                  {"tokenizer", KeyReads::nothing},
                                  {"trainer.*", KeyReads::nothing, {}, "the length of the run"},
                                  {"scheduler.*", KeyReads::nothing},
                                  {"logger.*", KeyReads::nothing},
                                  {"checkpoint.*", KeyReads::nothing},
                                  {"dataset.*", KeyReads::nothing},
                                  {"rng.*", KeyReads::nothing},
                                  {"profiling.*", KeyReads::nothing},
                                  {"dist.*", KeyReads::nothing},
                                  {"log.*", KeyReads::nothing},
                                  {"resume.*", KeyReads::nothing},
                                  {"run.*", KeyReads::nothing},
                                  {"_target_", KeyReads::nothing},
                                  {"target", KeyReads::nothing},
                                  {"name", KeyReads::nothing},
                                  {"mixed_precision.*", KeyReads::nothing},
                                  {"defaults", KeyReads::nothing},
                                  {"restore_from_path", KeyReads::nothing},
                                  {"mcore_gpt", KeyReads::usual},
                                  {"megatron_amp_O2", KeyReads::usual},
                                  {"transformer_engine", KeyReads::usual},
                                  {"nsys_profile.*", KeyReads::nothing},
                                  {"gradient_clip_val", KeyReads::nothing}};

/// Reads the GPUs that trainer.devices and num_nodes give; -1 and "auto" mean all that a node has.
void read_trainer_gpus(SettingsReading& reading) {
  const YamlNode* given = reading.find({"trainer.devices"});
  if (given != nullptr && (given->text == "-1" || given->text == "auto"))
    return reading.fate(KeyFate::open, "--gpus N says how many");
  const auto devices = reading.integer({"trainer.devices"}, 1, 1024),
             nodes = reading.integer({"trainer.num_nodes"}, 1, 100'000);
  if (nodes) reading.fate(KeyFate::usual, "nodes of the job");
  if (!devices) return;
  const std::int64_t all = *devices * nodes.value_or(1);
  reading.effect_of("trainer.devices", {{"run.gpus", fmt::format("[{}]", all)}}, "of all nodes");
  reading.out().processes = static_cast<int>(all);
  reading.out().machines = static_cast<int>(nodes.value_or(1));
}

// Note for precisions that a layout cannot have.
constexpr const char* kNoWidePrecision = "[parallel] computes products in 16 bit or less";

/// Returns whether the value of an fp8 key turns it on: true, "hybrid" and "e4m3" do; false, "none" and
/// "null" do not.
bool turns_on_fp8(std::string_view word) {
  return word != "false" && word != "none" && word != "null" && word != "no" && word != "0";
}

/// Reads the precision: "bf16-mixed", "bf16_with_fp8_current_scaling_mixed", and NeMo 1's own flag for fp8.
void read_nemo_precision(SettingsReading& reading) {
  for (const char* path : {"trainer.precision", "mixed_precision", "precision"}) {
    const YamlNode* given = reading.find({path});
    if (given == nullptr || given->kind != SettingKind::scalar) continue;  // a call, or a table of its own
    const auto word = reading.word({path});
    if (!word) continue;
    if (word->starts_with("32") || word->starts_with("fp32")) {
      reading.fate(KeyFate::not_modelled, kNoWidePrecision);
      continue;
    }
    // One word names the type of the weights and, by its middle part, that of the products.
    const bool fp8 = word->find("fp8") != std::string::npos, fp4 = word->find("fp4") != std::string::npos;
    const bool half = word->find("bf16") == std::string::npos && word->find("16") != std::string::npos;
    std::vector<SettingEffect> effects{{"model.precision", half ? "\"amp_fp16\"" : "\"bf16\""}};
    if (fp8 || fp4) effects.push_back({"parallel.precision", fp4 ? "\"fp4\"" : "\"fp8\""});
    reading.effect(std::move(effects));
  }
  if (const auto word = reading.word({"fp8"}); word && turns_on_fp8(*word))
    reading.effect({{"parallel.precision", "\"fp8\""}});
}

/// Reads NeMo 1's optimizer, whose name tells whether its state is sharded, such as "distributed_fused_adam".
void read_nemo_optimizer(SettingsReading& reading) {
  const auto name = reading.word({"optim_name"});
  if (!name) return;
  const bool shards = name->find("distributed") != std::string::npos;
  reading.by_default("optim.name", {{"parallel.shard", shards ? "\"optimizer\"" : "\"none\""}});
  // Adam of NeMo and Apex decays weights as AdamW does.
  const bool is_adam = name->find("adam") != std::string::npos;
  if (!put_optimizer(reading, is_adam ? "adamw" : *name))
    reading.fate(KeyFate::not_modelled, "the optimizer of this name");
  if (const auto type = reading.word({"grad_sync_dtype"}))
    reading.effect({{"parallel.gradient_bytes", type->find("16") == std::string::npos ? "4" : "2"}});
}

/// Reads a text of a name and a size, such as "meta-llama/Meta-Llama-3-8B", where the recipe has no sizes of
/// layers.
void read_named_model(SettingsReading& reading, std::initializer_list<std::string_view> paths) {
  if (reading.has("hidden_size")) return;
  const auto name = reading.word(paths);
  if (!name) return;
  const std::string model = catalog_model(*name, "");
  if (model.empty()) return reading.fate(KeyFate::open, "--model NAME says which network");
  reading.effect({{"model.name", toml_text(model)}});
}

/// Reads NeMo's and Megatron-Bridge's keys, which differ in their defaults only.
void read_nemo_like(SettingsReading& reading, const MegatronDialect& dialect) {
  reading.rename(kNemoNames);
  read_trainer_gpus(reading);
  read_megatron_dialect(reading, dialect);
  read_nemo_precision(reading);
  read_nemo_optimizer(reading);
  read_named_model(reading, {"hf_model_id", "from_hf_pretrained", "model_name"});
  reading.apply(kNemoRules);
}

/// Returns whether a value is a table.
bool is_map(const YamlNode& node) { return node.kind == SettingKind::map; }

/// Returns whether a table has any of these keys.
bool has_any(const YamlNode& node, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return !node.at(name).is_null(); });
}

/// Names of AMD's Primus (examples/megatron/configs), which has Megatron-LM's arguments below `overrides`.
constexpr KeyName kPrimusNames[] = {
    {"modules.pre_trainer.overrides.primus_turbo.*", "primus_turbo"},
    {"modules.pre_trainer.overrides.*", ""},
    {"modules.pre_trainer.model", "named_model"},
};
/// Keys of Primus that no reader needs.
constexpr KeyRule kPrimusRules[] = {{"modules.*", KeyReads::nothing},
                                    {"primus_turbo.*", KeyReads::unmodelled, {}, "kernels of Primus-Turbo"},
                                    {"platform.*", KeyReads::nothing},
                                    {"work_group", KeyReads::nothing},
                                    {"user_name", KeyReads::nothing},
                                    {"exp_name", KeyReads::nothing},
                                    {"workspace", KeyReads::nothing},
                                    {"wandb_project", KeyReads::nothing},
                                    {"stderr_sink_level", KeyReads::nothing},
                                    {"named_model", KeyReads::nothing}};

/// Names of GPT-NeoX (megatron/neox_arguments), which runs Megatron-LM's layers under DeepSpeed.
constexpr KeyName kNeoxNames[] = {
    // Layout and batch.
    {"pipe_parallel_size", "pipeline_model_parallel_size"},
    {"model_parallel_size", "tensor_model_parallel_size"},
    {"train_micro_batch_size_per_gpu", "micro_batch_size"},
    {"train_batch_size", "global_batch_size"},
    {"intermediate_size", "ffn_hidden_size"},
    {"num_kv_heads", "num_query_groups"},
    // DeepSpeed's sections.
    {"zero_optimization.stage", "zero_stage"},
    {"zero_optimization.overlap_comm", "overlap_grad_reduce"},
    {"no_weight_tying", "untie_embeddings_and_output_weights"},
    {"moe_num_experts", "num_experts"},
    {"moe_top_k", "moe_router_topk"},
    {"moe_expert_parallel_size", "expert_model_parallel_size"},
    {"norm", "normalization"},
    {"gradient_clipping", "clip_grad"},
    {"optimizer.type", "optimizer"},
    {"fp16.enabled", "fp16"},
    {"fp16.fp16", "fp16"},
    {"bf16.enabled", "bf16"},
};
/// Keys of GPT-NeoX that neither its layout nor its network has.
constexpr KeyRule kNeoxRules[] = {
    {"zero_optimization.*", KeyReads::nothing, {}, "buckets"},
    {"optimizer.*", KeyReads::nothing},
    {"fp16.*", KeyReads::nothing},
    {"bf16.*", KeyReads::nothing},
    // Recomputation, which checkpoint_activations decides.
    {"checkpoint_num_layers", KeyReads::nothing},
    {"partition_activations", KeyReads::unmodelled, {}, "kept inputs are cut over tensor ranks"},
    {"synchronize_each_layer", KeyReads::unmodelled, {}, "the host waits for every layer"},
    {"attention_config.*", KeyReads::usual},
    {"attention_config", KeyReads::usual},
    {"wall_clock_breakdown", KeyReads::unmodelled, {}, "the host waits for the parts of every step"},
    {"steps_per_print", KeyReads::nothing},
    // The network.
    {"pos_emb", KeyReads::usual},
    {"rotary_pct", KeyReads::nothing},
    {"scaled_upper_triang_masked_softmax_fusion", KeyReads::usual},
    {"bias_gelu_fusion", KeyReads::usual},
    {"gpt_j_residual", KeyReads::usual},
    {"output_layer_parallelism", KeyReads::nothing},
    {"output_layer_init_method", KeyReads::nothing},
    {"init_method", KeyReads::nothing},
    {"layernorm_epsilon", KeyReads::nothing},
    {"checkpoint_factor", KeyReads::nothing},
    {"checkpoint_in_cpu", KeyReads::unmodelled, {}, "kept inputs go to host memory"},
    {"contiguous_memory_optimization", KeyReads::nothing},
    {"lr_scheduler.*", KeyReads::nothing},
    {"keep_last_n_checkpoints", KeyReads::nothing},
    {"warmup", KeyReads::nothing},
    {"data_impl", KeyReads::nothing}};

/// Reads the micro-steps as the global batch, once the number of GPUs is known.
void read_accumulation(SettingsReading& reading) {
  const auto steps = reading.integer({"gradient_accumulation_steps"}, 1, 4096);
  if (!steps) return;
  const auto micro = reading.integer({"micro_batch_size"}, 1, 1'000'000);
  const std::int64_t replica = reading.integer({"tensor_model_parallel_size"}, 1, 100'000).value_or(1) *
                               reading.integer({"pipeline_model_parallel_size"}, 1, 100'000).value_or(1);
  const int gpus = reading.context().gpus;
  if (reading.has("global_batch_size")) return reading.fate_of("gradient_accumulation_steps", KeyFate::usual);
  if (!micro || gpus == 0 || gpus % replica != 0)
    return reading.fate_of("gradient_accumulation_steps", KeyFate::open,
                           "says the global batch once the number of GPUs is known (--gpus N)");
  reading.effect_of("gradient_accumulation_steps",
                    {{"parallel.global_batch", std::to_string(*micro * *steps * (gpus / replica))}},
                    "of all replicas");
}

/// Returns whether a text somewhere in a nested list is the word.
bool holds_word(const YamlNode& node, std::string_view word) {
  return node.text == word ||
         std::ranges::any_of(node.items, [&](const YamlNode& item) { return holds_word(item, word); });
}

/// Reads attention_config = [[["flash"], 24]]. Without flash, all scores are kept for backward.
void read_neox_attention(SettingsReading& reading) {
  const YamlNode* given = reading.find({"attention_config"});
  if (given == nullptr) return;
  const bool fused = holds_word(*given, "flash");
  reading.effect({{"parallel.attention", fused ? "\"flash-2\"" : "\"unfused\""}});
}

}  // namespace

/// NeMo's file has both a model and a trainer, with Megatron-LM's names in the model.
bool is_nemo(const YamlNode& tree) {
  return is_map(tree.at("model")) && is_map(tree.at("trainer")) &&
         has_any(tree.at("model"), {"micro_batch_size", "tensor_model_parallel_size"});
}

/// NeMo shares the optimizer's state where its name says so.
void read_nemo(SettingsReading& reading) {
  read_nemo_like(reading, {.what = "NeMo", .groups_need_flag = false});
}

/// Megatron-Bridge has `train` in place of a trainer.
bool is_megatron_bridge(const YamlNode& tree) {
  const std::initializer_list<std::string_view> degrees{
      "tensor_model_parallel_size", "pipeline_model_parallel_size", "expert_model_parallel_size",
      "context_parallel_size"};
  const bool has_sections =
      is_map(tree.at("train")) && has_any(tree.at("train"), {"micro_batch_size", "global_batch_size"});
  return has_sections && (has_any(tree.at("model"), degrees) || is_map(tree.at("ddp")));
}

/// Megatron-Bridge shares the optimizer's state unless it is told not to.
void read_megatron_bridge(SettingsReading& reading) {
  read_nemo_like(reading, {.what = "Megatron-Bridge", .groups_need_flag = false, .shards_by_default = true});
}

/// Primus can start torchtitan, too, whose keys are others.
bool is_primus(const YamlNode& tree) {
  return is_map(tree.at("modules")) && is_map(tree.at("modules").at("pre_trainer")) &&
         tree.at("modules").at("pre_trainer").at("framework").text != "torchtitan";
}

/// The file of the model may name a network of the catalog, where the recipe has no sizes.
void read_primus(SettingsReading& reading) {
  reading.rename(kPrimusNames);
  if (const auto file = reading.word({"named_model"}); file && !reading.has("hidden_size")) {
    const std::string model = catalog_model(file->substr(0, file->find(".yaml")), "");
    if (model.empty())
      reading.fate(KeyFate::open, "--model NAME says which network");
    else
      reading.effect({{"model.name", toml_text(model)}});
  }
  read_megatron_dialect(reading, {.what = "Primus", .groups_need_flag = false});
  if (const auto kind = reading.word({"fp8"}); kind && turns_on_fp8(*kind))
    reading.effect({{"parallel.precision", "\"fp8\""}});
  reading.by_default("Primus trains in bf16", {{"model.precision", "\"bf16\""}});
  reading.apply(kPrimusRules);
}

/// Keys of GPT-NeoX have dashes or underlines.
bool is_gpt_neox(const YamlNode& tree) {
  const auto says = [&](std::string_view low, std::string_view dashed) {
    return !tree.at(low).is_null() || !tree.at(dashed).is_null();
  };
  return says("num_layers", "num-layers") && says("hidden_size", "hidden-size") &&
         (says("pipe_parallel_size", "pipe-parallel-size") ||
          says("model_parallel_size", "model-parallel-size") ||
          says("train_micro_batch_size_per_gpu", "train-micro-batch-size-per-gpu"));
}

/// DeepSpeed's stage and overlap are renamed, too, and become parts of the layout.
void read_gpt_neox(SettingsReading& reading) {
  reading.rename(kNeoxNames);
  read_megatron_dialect(reading,
                        {.what = "GPT-NeoX", .framework = "megatron-deepspeed", .groups_need_flag = false});
  if (const auto on = reading.flag({"checkpoint_activations"}))
    reading.effect({{"parallel.recompute", *on ? "\"full\"" : "\"none\""}});
  if (const auto type = reading.word({"precision"})) {
    if (type->find("32") != std::string::npos)
      reading.fate(KeyFate::not_modelled, kNoWidePrecision);
    else
      reading.effect({{"model.precision", type->find("b") == 0 ? "\"bf16\"" : "\"amp_fp16\""}});
  }
  read_neox_attention(reading);
  read_accumulation(reading);
  reading.apply(kNeoxRules);
}

}  // namespace foretrain
