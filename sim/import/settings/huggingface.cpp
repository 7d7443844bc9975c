// Reads Hugging Face's TrainingArguments (transformers/training_args.py): as a file, as a call in a program,
// or on a command line:
//
//   --per_device_train_batch_size 4 --gradient_accumulation_steps 8 --bf16 --deepspeed ds_config.json
//
// Taken are batch, accumulation, strategy with its further files, precision, optimizer, clipping, loader,
// compilation, and everything about adapters. LLaMA-Factory's and TRL's arguments are read with them, since
// these tools use the same names. Logging, saving and learning rates have no influence.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/settings/fine_tuning_keys.hpp"
#include "sim/import/settings/fsdp_keys.hpp"
#include "sim/import/settings/huggingface_keys.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// A row of the table: name of the argument, and the members of a KeyRule.
struct ArgumentRow {
  const char* name;
  KeyReads reads;
  const char *to, *note, *harmless;
};

/// Arguments that one row describes whole.
constexpr ArgumentRow kArgumentRows[] = {
    {"per_device_train_batch_size", KeyReads::integer, "model.batch_per_gpu", "", ""},
    {"gradient_accumulation_steps", KeyReads::integer, "strategy.accumulation", "", ""},
    // The data loader.
    {"dataloader_num_workers", KeyReads::integer, "data.workers_per_gpu", "", ""},
    {"dataloader_pin_memory", KeyReads::flag, "data.pinned", "", ""},
    {"dataloader_persistent_workers", KeyReads::flag, "data.persistent_workers", "", ""},
    {"dataloader_prefetch_factor", KeyReads::integer, "data.prefetch", "", ""},
    {"dataloader_drop_last", KeyReads::flag, "data.drop_last", "", ""},
    // DistributedDataParallel.
    {"ddp_find_unused_parameters", KeyReads::flag, "strategy.find_unused_parameters", "", ""},
    {"ddp_bucket_cap_mb", KeyReads::mebibytes, "strategy.bucket_cap", "", ""},
    {"ddp_broadcast_buffers", KeyReads::flag, "strategy.broadcast_buffers", "", ""},
    {"gradient_checkpointing", KeyReads::flag, "model.recompute", "", ""},
    // Features that change the work of a step.
    {"torch_empty_cache_steps", KeyReads::unmodelled, "", "the allocator starts anew", ""},
    {"group_by_length", KeyReads::unmodelled, "", "batches of sequences alike", ""},
    {"neftune_noise_alpha", KeyReads::unmodelled, "", "noise is added to embeddings", ""},
    {"auto_find_batch_size", KeyReads::unmodelled, "", "the batch is searched for", ""},
    // Details of GaLore and Apollo, whose ranks read_galore() reads.
    {"galore_scale", KeyReads::nothing, "", "", ""},
    {"galore_proj_type", KeyReads::usual, "", "", ""},
    {"galore_target", KeyReads::usual, "", "the matrices of all blocks", ""},
    {"galore_layerwise", KeyReads::usual, "", "see use_galore", ""},
    {"apollo_scale", KeyReads::nothing, "", "", ""},
    {"apollo_proj_type", KeyReads::usual, "", "", ""},
    {"apollo_target", KeyReads::usual, "", "the matrices of all blocks", ""},
    {"apollo_layerwise", KeyReads::usual, "", "see use_apollo", ""},
    // LLaMA-Factory's own arguments.
    {"stage", KeyReads::unmodelled, "", "dpo, ppo and rm run further networks than the one that is trained",
     "sft"},
    {"freeze_trainable_layers", KeyReads::usual, "", "", ""}};

/// Arguments that neither time nor memory depends on: output, learning rates, logging, validation, numbers of
/// the optimizer, names of network and data, and options of other libraries.
constexpr const char* kIdleArguments[] = {"output_dir",
                                          "learning_rate",
                                          "lr_scheduler_type",
                                          "warmup_ratio",
                                          "warmup_steps",
                                          "logging_steps",
                                          "logging_dir",
                                          "logging_strategy",
                                          "save_steps",
                                          "save_strategy",
                                          "save_total_limit",
                                          "eval_steps",
                                          "eval_strategy",
                                          "evaluation_strategy",
                                          "do_train",
                                          "do_eval",
                                          "seed",
                                          "report_to",
                                          "run_name",
                                          "per_device_eval_batch_size",
                                          "overwrite_output_dir",
                                          "adam_beta1",
                                          "adam_beta2",
                                          "adam_epsilon",
                                          "max_steps",
                                          "push_to_hub",
                                          "load_best_model_at_end",
                                          "metric_for_best_model",
                                          "remove_unused_columns",
                                          "model_name_or_path",
                                          "dataset_name",
                                          "tokenizer_name",
                                          "ddp_timeout",
                                          "log_level",
                                          "label_names",
                                          "gradient_checkpointing_kwargs",
                                          "torch_compile_backend",
                                          "torch_compile_mode",
                                          "bf16_full_eval",
                                          "fp16_full_eval",
                                          "greater_is_better",
                                          "logging_first_step",
                                          "lora_alpha",
                                          "template",
                                          "dataset",
                                          "dataset_dir"};

/// Reads --fsdp "full_shard auto_wrap offload": a list of words in one text.
void read_fsdp_words(SettingsReading& reading, const std::string& above) {
  const auto words = reading.word({above + "fsdp"});
  if (!words || words->empty() || *words == "false") return;
  std::vector<SettingEffect> effects{{"strategy.name", "\"fsdp\""}};
  const auto says = [&](std::string_view word) { return words->find(word) != std::string::npos; };
  // The test for no_shard comes after hybrid; full_shard is what remains.
  if (says("shard_grad_op"))
    effects.push_back({"strategy.sharding", "\"shard_grad_op\""});
  else if (says("hybrid"))
    effects.push_back({"strategy.sharding", "\"hybrid_shard\""});
  else if (says("no_shard"))
    effects.push_back({"strategy.sharding", "\"no_shard\""});
  else
    effects.push_back({"strategy.sharding", "\"full_shard\""});
  if (says("offload")) effects.push_back({"strategy.offload_params", "true"});
  reading.effect(std::move(effects));
}

/// Returns the arguments that "auto" in DeepSpeed's file stands for: those of this file, added to the
/// program's.
std::vector<ProgramArgument> told_by(SettingsReading& reading, const std::string& above) {
  std::vector<ProgramArgument> out;
  if (reading.context().arguments != nullptr) out = *reading.context().arguments;
  for (const auto& [name, key] :
       {std::pair{"per_device_train_batch_size", "batch_per_gpu"},
        std::pair{"gradient_accumulation_steps", "accumulation"}, std::pair{"fp16", "fp16"},
        std::pair{"bf16", "bf16"}, std::pair{"max_grad_norm", "clip"}}) {
    if (const YamlNode* node = reading.find({above + name}))
      out.push_back({key, name, node->text, node->span});
  }
  return out;
}

/// Reads a further file that an argument names, beside this one; a table or a flag is left to others.
void read_further(SettingsReading& reading, const std::string& above, const std::string& name) {
  const std::vector<ProgramArgument> told = told_by(reading, above);
  const std::string path = above + name;
  const YamlNode* node = reading.find({path});
  if (node == nullptr || node->kind != YamlNode::Kind::scalar || flag_in(node->text)) return;
  const auto text = reading.context().find ? reading.context().find(node->text) : std::nullopt;
  // DeepSpeed is certain even where its stage is not known.
  if (!text && name == "deepspeed")
    return reading.effect({{"strategy.name", "\"zero0\""}},
                          "the stage is in the file, which does not lie beside this one");
  if (!text) return reading.fate(KeyFate::open, "the file is not read: it does not lie beside this one");
  SettingsContext context = reading.context();
  // The further file may not name others, so files cannot include each other.
  context.find = nullptr, context.arguments = &told;
  const TrainingSettings inner = read_settings(*text, context);
  reading.fate(KeyFate::usual, "read as " + inner.format);
  reading.include(inner);
}

/// Reads precision, optimizer, compilation, clipping, epochs and weight decay.
void read_trainer_numbers(SettingsReading& reading, const std::string& above) {
  // Sharded strategies keep 16-bit weights beside fp32 ones.
  const std::string strategy = value_of(reading.out(), "strategy.name");
  const bool half = strategy.starts_with("\"fsdp") || strategy.starts_with("\"zero");
  for (const char* name : {"fp16", "bf16"}) {
    if (reading.flag({above + name}).value_or(false))
      put_precision(reading, name, half);
    else if (reading.has(above + name))
      reading.fate(KeyFate::usual);
  }
  if (reading.flag({above + "tf32"}).value_or(false)) {
    if (value_of(reading.out(), "model.precision").empty())
      reading.effect({{"model.precision", "\"tf32\""}});
    else
      reading.fate(KeyFate::usual);
  }
  if (const auto name = reading.word({above + "optim"})) {
    if (!put_optimizer(reading, *name)) reading.fate(KeyFate::not_modelled, "no optimizer that is known");
  }
  read_galore(reading, above);
  if (const auto on = reading.flag({above + "torch_compile"}))
    reading.effect({{"framework.execution", *on ? "\"compiled\"" : "\"eager\""}});
  if (const auto norm = reading.number({above + "max_grad_norm"}))
    reading.effect({{"loop.clip_grad_norm", *norm > 0 ? "\"on_device\"" : "\"none\""}});
  // The Trainer clips unless max_grad_norm is 0.
  else
    reading.by_default("max_grad_norm is 1 by default", {{"loop.clip_grad_norm", "\"on_device\""}});
  if (const auto epochs = reading.number({above + "num_train_epochs"})) {
    if (*epochs > 0 && *epochs < 1e6) reading.effect({{"run.epochs", fmt::format("{}", *epochs)}});
  }
  if (const auto decay = reading.number({above + "weight_decay"}))
    reading.effect({{"model.weight_decay", toml_flag(*decay != 0)}});
}

}  // namespace

/// The strategy comes first, because precision depends on it; arguments of the table come last.
void read_training_arguments(SettingsReading& reading, const std::string& above) {
  reading.by_default("Hugging Face's Trainer",
                     {{"strategy.name", "\"ddp\""}, {"loop.hooks", "\"huggingface\""}});
  // Trainer._wrap_model searches for unused parameters unless it checkpoints; both exclude each other.
  const bool checkpoints = reading.flag({above + "gradient_checkpointing"}).value_or(false);
  if (!checkpoints && reading.context().gpus != 1)
    reading.by_default("the Trainer searches for unused parameters unless it checkpoints",
                       {{"strategy.find_unused_parameters", "true"}});
  read_fsdp_words(reading, above);
  // fsdp_config is a table here, or the name of a file with it.
  const YamlNode* table = reading.find({above + "fsdp_config"});
  if (table != nullptr && table->kind == YamlNode::Kind::map && !table->entries.empty())
    read_fsdp_keys(reading, above + "fsdp_config.");
  read_further(reading, above, "fsdp_config");
  read_further(reading, above, "deepspeed");
  read_trainer_numbers(reading, above);
  read_fine_tuning(reading, above);
  keep_frozen_weights_narrow(reading);
  read_memory_switches(reading, above);
  std::vector<std::string> paths;
  for (const ArgumentRow& row : kArgumentRows) paths.push_back(above + row.name);
  std::vector<KeyRule> rules;
  for (std::size_t i = 0; i < paths.size(); ++i)
    rules.push_back({paths[i], kArgumentRows[i].reads, kArgumentRows[i].to, kArgumentRows[i].note,
                     kArgumentRows[i].harmless});
  reading.apply(rules);
  for (const char* idle : kIdleArguments) reading.fate_of(above + idle, KeyFate::no_influence);
}

/// No other tool has this name at the top of a file.
bool is_huggingface(const YamlNode& tree) { return !tree.at("per_device_train_batch_size").is_null(); }

/// The arguments stand at the top of the file, so nothing is above them.
void read_huggingface(SettingsReading& reading) { read_training_arguments(reading, ""); }

}  // namespace foretrain
