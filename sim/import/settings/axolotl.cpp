// Reads axolotl's YAML (src/axolotl/utils/schemas/config.py): the options of Hugging Face's Trainer under
// other names, for example
//
//   base_model: meta-llama/Llama-3.1-8B
//   micro_batch_size: 2
//   gradient_accumulation_steps: 8
//   adapter: lora
//
// Taken are batch, accumulation, strategy, precision, optimizer, adapters, loader and compilation. Data sets,
// learning rates and logging have no influence.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/settings/fine_tuning_keys.hpp"
#include "sim/import/settings/fsdp_keys.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// Keys that one row describes whole.
constexpr KeyRule kAxolotlRules[] = {
    {"micro_batch_size", KeyReads::integer, "model.batch_per_gpu"},
    {"gradient_accumulation_steps", KeyReads::integer, "strategy.accumulation"},
    {"gradient_checkpointing", KeyReads::flag, "model.recompute"},
    {"dataloader_num_workers", KeyReads::integer, "data.workers_per_gpu"},
    {"dataloader_pin_memory", KeyReads::flag, "data.pinned"},
    {"dataloader_prefetch_factor", KeyReads::integer, "data.prefetch"},
    {"ddp_find_unused_parameters", KeyReads::flag, "strategy.find_unused_parameters"},
    {"ddp_bucket_cap_mb", KeyReads::mebibytes, "strategy.bucket_cap"},
    // Lengths of samples: the model assumes that all have the length of the model file.
    {"group_by_length", KeyReads::unmodelled, {}, "batches of sequences alike"},
    {"pad_to_sequence_len", KeyReads::usual, {}, "every sample has the tokens of the model file"},
    // Parallelisms that a strategy of data parallelism does not have.
    {"tensor_parallel_size", KeyReads::unmodelled, {}, "tensor parallel", "1"},
    {"context_parallel_size", KeyReads::unmodelled, {}, "context parallel", "1"},
    {"sequence_parallel_degree", KeyReads::unmodelled, {}, "sequence parallel", "1"},
    {"flash_attention", KeyReads::usual, {}, "the attention of the model file"},
    {"sdp_attention", KeyReads::usual, {}, "the attention of the model file"},
    {"val_set_size", KeyReads::nothing},
    {"datasets.*", KeyReads::nothing},
    {"special_tokens.*", KeyReads::nothing},
};

/// Keys that neither time nor memory depends on.
constexpr const char* kAxolotlIdle[] = {"base_model",
                                        "model_type",
                                        "tokenizer_type",
                                        "output_dir",
                                        "datasets",
                                        "lr_scheduler",
                                        "learning_rate",
                                        "warmup_steps",
                                        "warmup_ratio",
                                        "evals_per_epoch",
                                        "eval_steps",
                                        "saves_per_epoch",
                                        "save_steps",
                                        "logging_steps",
                                        "dataset_prepared_path",
                                        "lora_alpha",
                                        "train_on_inputs",
                                        "wandb_project",
                                        "wandb_entity",
                                        "seed",
                                        "early_stopping_patience",
                                        "resume_from_checkpoint",
                                        "strict"};

/// Reads axolotl's list of words for FSDP: full_shard, auto_wrap, offload.
void read_sharding_words(SettingsReading& reading) {
  const YamlNode* words = reading.find({"fsdp"});
  if (words == nullptr) return;
  const auto says = [&](std::string_view word) {
    return words->text == word ||
           std::ranges::any_of(words->items, [&](const YamlNode& item) { return item.text == word; });
  };
  const char* sharding = says("shard_grad_op")  ? "\"shard_grad_op\""
                         : says("hybrid_shard") ? "\"hybrid_shard\""
                                                : "\"full_shard\"";
  std::vector<SettingEffect> effects{{"strategy.name", "\"fsdp\""}, {"strategy.sharding", sharding}};
  if (says("offload")) effects.push_back({"strategy.offload_params", "true"});
  reading.effect(std::move(effects));
}

/// Reads the DeepSpeed file that the settings name. Without the file the stage is unknown, so ZeRO 0 stands
/// for it with a note.
void read_axolotl_deepspeed(SettingsReading& reading) {
  const YamlNode* file = reading.find({"deepspeed"});
  if (file == nullptr || file->kind != SettingKind::scalar) return;
  const auto text = reading.context().find ? reading.context().find(file->text) : std::nullopt;
  // A file that is not there leaves the stage open.
  if (!text)
    return reading.effect({{"strategy.name", "\"zero0\""}},
                          "the stage is in the file, which does not lie beside this one");
  SettingsContext context = reading.context();
  context.find = nullptr;
  const TrainingSettings inner = read_settings(*text, context);
  reading.fate(KeyFate::usual, "read as " + inner.format);
  reading.include(inner);
}

/// Reads fp16 and bf16. Sharded strategies keep 16-bit weights, so the strategy is read before.
void read_axolotl_precision(SettingsReading& reading) {
  const std::string strategy = value_of(reading.out(), "strategy.name");
  const bool half = strategy.starts_with("\"fsdp") || strategy.starts_with("\"zero");
  for (const char* name : {"fp16", "bf16"}) {
    const std::string word = reading.word({name}).value_or("");
    if (word == "true" || word == "auto" || word == "full")
      put_precision(reading, name, half);
    else if (!word.empty())
      reading.fate(KeyFate::usual);
  }
}

}  // namespace

/// Other tools have a base_model; the batch or length under axolotl's names tells them apart.
bool is_axolotl(const YamlNode& tree) {
  return !tree.at("base_model").is_null() &&
         (!tree.at("micro_batch_size").is_null() || !tree.at("sequence_len").is_null());
}

/// The strategy comes first: the precision depends on it, and adapters on the precision.
void read_axolotl(SettingsReading& reading) {
  reading.by_default("axolotl starts Hugging Face's Trainer",
                     {{"strategy.name", "\"ddp\""}, {"loop.hooks", "\"huggingface\""}});
  read_sharding_words(reading);
  // A table of accelerate's keys may stand beside the words.
  const YamlNode* table = reading.find({"fsdp_config"});
  if (table != nullptr && table->kind == SettingKind::map) read_fsdp_keys(reading, "fsdp_config.");
  read_axolotl_deepspeed(reading);
  read_axolotl_precision(reading);
  if (const auto name = reading.word({"optimizer"})) {
    if (!put_optimizer(reading, *name)) reading.fate(KeyFate::not_modelled, "no optimizer that is known");
  }
  if (const auto epochs = reading.number({"num_epochs"})) {
    if (*epochs > 0 && *epochs < 1e6) reading.effect({{"run.epochs", fmt::format("{}", *epochs)}});
  }
  if (const auto decay = reading.number({"weight_decay"}))
    reading.effect({{"model.weight_decay", toml_flag(*decay != 0)}});
  if (const auto on = reading.flag({"torch_compile"}))
    reading.effect({{"framework.execution", *on ? "\"compiled\"" : "\"eager\""}});
  read_fine_tuning(reading, "");
  keep_frozen_weights_narrow(reading);
  read_memory_switches(reading, "");
  reading.apply(kAxolotlRules);
  for (const char* idle : kAxolotlIdle) reading.fate_of(idle, KeyFate::no_influence);
}

}  // namespace foretrain
