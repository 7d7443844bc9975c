// Reads the YAML of torchtune's recipes (recipes/configs) and of litgpt's config_hub, tools that fine-tune
// with training loops of their own:
//
//   model: {_component_: torchtune.models.llama3.lora_llama3_8b, lora_rank: 8}     (torchtune)
//   precision: bf16-true, quantize: bnb.nf4, lora_r: 8, train: {micro_batch_size: 4}  (litgpt)
//
// Taken are adapters, weights, batch, optimizer, compilation and length of samples. The network is given by
// --model.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/settings/fine_tuning_keys.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

// Key of the class or function that torchtune instantiates.
constexpr std::string_view kComponent = "_component_";

/// Returns the component of a table, in lower case.
std::string component_of(const YamlNode& tree, std::string_view table) {
  return lower_case(tree.at(table).at(kComponent).text);
}

/// Keys that one row describes whole.
constexpr KeyRule kTorchtuneRules[] = {
    {"batch_size", KeyReads::integer, "model.batch_per_gpu"},
    {"gradient_accumulation_steps", KeyReads::integer, "strategy.accumulation"},
    {"enable_activation_checkpointing", KeyReads::flag, "model.recompute"},
    {"optimizer_in_bwd", KeyReads::flag, "model.optimizer_in_backward"},
    {"fsdp_cpu_offload", KeyReads::flag, "strategy.offload_params"},
    {"custom_sharded_layers", KeyReads::usual},
    {"model.lora_alpha", KeyReads::nothing},
    // Parallelisms beyond data parallelism.
    {"tensor_parallel_dim", KeyReads::unmodelled, {}, "tensor parallel", "1"},
    {"context_parallel_dim", KeyReads::unmodelled, {}, "context parallel", "1"},
    // Components whose main keys are read by functions, or that have no influence.
    {"tokenizer.*", KeyReads::nothing},
    {"dataset.*", KeyReads::nothing},
    {"checkpointer.*", KeyReads::nothing},
    {"lr_scheduler.*", KeyReads::nothing},
    {"metric_logger.*", KeyReads::nothing},
    {"profiler.*", KeyReads::nothing},
    {"optimizer.*", KeyReads::nothing},
    {"loss.*", KeyReads::nothing},
    {"model.*", KeyReads::usual, {}, "the network is named by --model"},
};

/// Keys that neither time nor memory depends on.
constexpr const char* kTorchtuneIdle[] = {"output_dir",
                                          "seed",
                                          "shuffle",
                                          "resume_from_checkpoint",
                                          "max_steps_per_epoch",
                                          "device",
                                          "log_every_n_steps",
                                          "log_peak_memory_stats",
                                          "log_level",
                                          "clip_grad_norm",
                                          "save_adapter_weights_only",
                                          "save_last_epoch_only"};

/// Reads which layers have adapters. The products of a feed-forward part are adapted together.
void read_torchtune_targets(SettingsReading& reading) {
  std::string list;
  // The list in TOML grows entry by entry, with a comma in front of each.
  if (const YamlNode* names = reading.find({"model.lora_attn_modules"})) {
    for (const YamlNode& name : names->items) list += ", " + toml_text(name.text);
    reading.fate(KeyFate::usual);
  }
  if (reading.flag({"model.apply_lora_to_mlp"}).value_or(false))
    list += ", \"gate_proj\", \"up_proj\", \"down_proj\"";
  if (reading.has("model.apply_lora_to_mlp")) reading.fate(KeyFate::usual);
  if (reading.flag({"model.apply_lora_to_output"}).value_or(false))
    reading.fate(KeyFate::not_modelled, "an adapter on the head is not counted");
  if (!list.empty())
    reading.by_default("torchtune adapts what the recipe lists",
                       {{"model.adapters.targets", fmt::format("[{}]", list.substr(2))}});
}

/// Reads adapters; torchtune keeps them in the recipe's type, without fp32 copies.
void read_torchtune_adapters(SettingsReading& reading, const std::string& component) {
  // QLoRA stands in the component's name, or as an argument.
  const bool is_packed =
      component.find("qlora") != std::string::npos || reading.flag({"model.quantize_base"}).value_or(false);
  if (is_packed) reading.by_default("qlora packs frozen weights", {{"model.weights", "\"nf4_double\""}});
  const bool is_dora =
      reading.flag({"model.use_dora"}).value_or(false) || component.find("dora") != std::string::npos;
  reading.by_default(
      "torchtune trains adapters in the recipe's dtype",
      {{"model.adapters.kind", is_dora ? "\"dora\"" : "\"lora\""}, {"model.adapters.fp32", "false"}});
  if (const auto rank = reading.integer({"model.lora_rank"}, 1, 1'000'000))
    reading.effect({{"model.adapters.rank", std::to_string(*rank)}});
  if (const auto dropout = reading.number({"model.lora_dropout"}))
    reading.effect({{"model.adapters.dropout", toml_flag(*dropout > 0)}});
  read_torchtune_targets(reading);
}

/// Reads the recipe's type, which the weights have where nothing packs them.
void read_torchtune_dtype(SettingsReading& reading) {
  const auto type = reading.word({"dtype"});
  if (!type) return;
  if (!value_of(reading.out(), "model.weights").empty()) return reading.fate(KeyFate::usual);
  if (*type == "bf16" || *type == "fp16") return reading.effect({{"model.weights", toml_text(*type)}});
  if (*type == "fp32") return reading.effect({{"model.precision", "\"fp32\""}});
  reading.fate(KeyFate::not_modelled, "a type that is not known");
}

/// Reads the optimizer by its class.
void read_torchtune_optimizer(SettingsReading& reading) {
  if (const auto name = reading.word({"optimizer._component_"})) {
    const std::size_t dot = name->rfind('.');
    if (!put_optimizer(reading, dot == std::string::npos ? *name : name->substr(dot + 1)))
      reading.fate(KeyFate::not_modelled, "no optimizer that is known");
  }
  if (const auto is_fused = reading.flag({"optimizer.fused"}); is_fused && *is_fused)
    reading.effect({{"model.optimizer_form", "\"fused\""}});
  if (const auto decay = reading.number({"optimizer.weight_decay"}))
    reading.effect({{"model.weight_decay", toml_flag(*decay != 0)}});
}

/// A switch of litgpt, and the layers that it adapts.
struct LitgptTarget {
  const char* key;
  const char* names;
};
/// Switches by the names of layers in Llama.
constexpr LitgptTarget kLitgptTargets[] = {{"lora_query", "\"q_proj\""},
                                           {"lora_key", "\"k_proj\""},
                                           {"lora_value", "\"v_proj\""},
                                           {"lora_projection", "\"o_proj\""},
                                           {"lora_mlp", "\"gate_proj\", \"up_proj\", \"down_proj\""}};

/// Keys that one row describes whole.
constexpr KeyRule kLitgptRules[] = {
    {"train.micro_batch_size", KeyReads::integer, "model.batch_per_gpu"},
    {"train.max_seq_length", KeyReads::integer, "model.sequence_length"},
    {"lora_alpha", KeyReads::nothing},
    {"train.*", KeyReads::nothing},
    {"eval.*", KeyReads::nothing},
    {"data.*", KeyReads::nothing},
    {"optimizer.*", KeyReads::nothing},
};

/// Keys that neither time nor memory depends on.
constexpr const char* kLitgptIdle[] = {"checkpoint_dir", "out_dir",      "logger_name", "seed",
                                       "data",           "access_token", "resume"};

/// Reads adapters, which litgpt trains only where lora_r is there.
void read_litgpt_adapters(SettingsReading& reading) {
  const auto rank = reading.integer({"lora_r"}, 1, 1'000'000);
  if (!rank) return;
  reading.effect({{"model.adapters.rank", std::to_string(*rank)}, {"model.adapters.kind", "\"lora\""}});
  reading.by_default("litgpt trains adapters in its own precision", {{"model.adapters.fp32", "false"}});
  if (const auto dropout = reading.number({"lora_dropout"}))
    reading.effect({{"model.adapters.dropout", toml_flag(*dropout > 0)}});
  std::string list;
  for (const LitgptTarget& row : kLitgptTargets) {
    const auto is_on = reading.flag({row.key});
    if (!is_on) continue;
    if (*is_on) list += fmt::format(", {}", row.names);
    reading.fate(KeyFate::usual);
  }
  if (reading.flag({"lora_head"}).value_or(false))
    reading.fate(KeyFate::not_modelled, "an adapter on the head is not counted");
  if (!list.empty())
    reading.by_default("litgpt adapts what is switched on",
                       {{"model.adapters.targets", fmt::format("[{}]", list.substr(2))}});
}

/// Reads the weights: bnb.nf4, bnb.nf4-dq or bnb.int8-training. Precisions that end with "true" keep no fp32
/// weights.
void read_litgpt_weights(SettingsReading& reading) {
  const std::string quantize = reading.word({"quantize"}).value_or("");
  if (quantize.starts_with("bnb.nf4") || quantize.starts_with("bnb.fp4"))
    reading.effect({{"model.weights", quantize.ends_with("-dq") ? "\"nf4_double\"" : "\"nf4\""}});
  else if (quantize.starts_with("bnb.int8"))
    reading.effect({{"model.weights", "\"int8\""}});
  else if (!quantize.empty())
    reading.fate(KeyFate::not_modelled, "weights of another kind");
  // Quantised weights keep their bits whatever the precision is.
  const std::string precision = reading.word({"precision"}).value_or("");
  if (precision.empty()) return;
  if (!value_of(reading.out(), "model.weights").empty()) return reading.fate(KeyFate::usual);
  if (precision == "bf16-true" || precision == "16-true")
    return reading.effect({{"model.weights", precision.starts_with("bf16") ? "\"bf16\"" : "\"fp16\""}});
  if (!put_precision(reading, precision, false))
    reading.fate(KeyFate::not_modelled, "no precision that is known");
}

/// Reads devices, nodes and the batch; the micro-steps follow from these.
void read_litgpt_processes(SettingsReading& reading) {
  const auto devices = reading.integer({"devices"}, 1, 1024),
             nodes = reading.integer({"num_nodes"}, 1, 100'000);
  if (nodes) reading.fate(KeyFate::usual);
  if (!devices) return;
  reading.effect_of("devices", {{"run.gpus", gpu_list(*devices * nodes.value_or(1))}});
  if (*devices * nodes.value_or(1) > 1)
    reading.by_default("litgpt shards over several GPUs", {{"strategy.name", "\"fsdp\""}});
  const auto all = reading.integer({"train.global_batch_size"}, 1, 1'000'000'000),
             each = reading.integer({"train.micro_batch_size"}, 1, 1'000'000);
  if (!all || !each) return;
  const std::int64_t steps = *all / std::max<std::int64_t>(1, *each * *devices * nodes.value_or(1));
  if (steps > 1 && steps <= 4096)
    reading.effect_of("train.global_batch_size", {{"strategy.accumulation", std::to_string(steps)}});
}

}  // namespace

/// The component names the tool itself.
bool is_torchtune(const YamlNode& tree) {
  return component_of(tree, "model").find("torchtune") != std::string::npos;
}

/// The component of the model tells whether adapters are trained.
void read_torchtune(SettingsReading& reading) {
  const std::string component = reading.word({"model._component_"}).value_or("");
  reading.fate(KeyFate::usual, "the network is named by --model");
  reading.by_default("torchtune shards over several GPUs with fully_shard", {{"strategy.name", "\"fsdp2\""}});
  if (component.find("lora") != std::string::npos) read_torchtune_adapters(reading, component);
  read_torchtune_dtype(reading);
  read_torchtune_optimizer(reading);
  const std::string loss = reading.word({"loss._component_"}).value_or("");
  if (loss.find("chunked") != std::string::npos || loss.find("linearcrossentropy") != std::string::npos)
    reading.effect({{"model.fused_kernels", "[\"linear_cross_entropy\"]"}});
  if (const auto on = reading.flag({"enable_activation_offloading"}))
    reading.effect({{"model.offload_activations", *on ? "\"saved_tensors\"" : "\"none\""}});
  if (const auto on = reading.flag({"compile"}))
    reading.effect({{"framework.execution", *on ? "\"compiled\"" : "\"eager\""}});
  if (const auto length = reading.integer({"tokenizer.max_seq_len"}, 1, 100'000'000))
    reading.effect({{"model.sequence_length", std::to_string(*length)}}, "samples are filled up, or shorter");
  if (const auto epochs = reading.number({"epochs"})) {
    if (*epochs > 0 && *epochs < 1e6) reading.effect({{"run.epochs", fmt::format("{}", *epochs)}});
  }
  reading.apply(kTorchtuneRules);
  for (const char* idle : kTorchtuneIdle) reading.fate_of(idle, KeyFate::no_influence);
}

/// The three keys stand together in litgpt's files only.
bool is_litgpt(const YamlNode& tree) {
  return !tree.at("checkpoint_dir").is_null() && !tree.at("precision").is_null() &&
         tree.at("train").kind == YamlNode::Kind::map;
}

/// Adapters come first, since the weights' types depend on quantisation.
void read_litgpt_settings(SettingsReading& reading) {
  read_litgpt_adapters(reading);
  read_litgpt_weights(reading);
  read_litgpt_processes(reading);
  if (const auto epochs = reading.number({"train.epochs"})) {
    if (*epochs > 0 && *epochs < 1e6) reading.effect({{"run.epochs", fmt::format("{}", *epochs)}});
  }
  if (const auto name = reading.word({"optimizer.class_path"})) {
    const std::size_t dot = name->rfind('.');
    if (!put_optimizer(reading, dot == std::string::npos ? *name : name->substr(dot + 1)))
      reading.fate(KeyFate::not_modelled, "no optimizer that is known");
  }
  // litgpt's own implementation of GELU is compiled into one kernel.
  reading.by_default("litgpt runs GELU as one kernel", {{"model.fused_kernels", "[\"gelu\"]"}});
  reading.apply(kLitgptRules);
  for (const char* idle : kLitgptIdle) reading.fate_of(idle, KeyFate::no_influence);
}

}  // namespace foretrain
