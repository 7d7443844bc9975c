// Reads DeepSpeed's configuration (ds_config.json), for example
//
//   {"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 2}, "bf16": {"enabled": true}}
//
// Keys and defaults are those of deepspeed/runtime/config.py, zero/config.py and docs/_pages/config-json.md
// of DeepSpeed 0.16. Taken are stage, batch, buckets, offload, precision, optimizer and clipping. "auto" is
// resolved by the program's arguments, or stays open. Features that no model describes are told as such;
// values of a wrong type, and batches that do not fit together, are mistakes.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/import/settings/offload_keys.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// Note for sizes that DeepSpeed counts in elements.
constexpr std::string_view kElements = "elements, by which DeepSpeed counts";

/// Keys that no function below reads. Order matters: a row for a whole section stands behind those of its
/// keys.
constexpr KeyRule kDeepSpeedRules[] = {
    // Buckets and thresholds of ZeRO, under their present and former names.
    {"zero_optimization.overlap_comm", KeyReads::flag, "strategy.overlap_comm"},
    {"zero_optimization.reduce_bucket_size", KeyReads::integer, "strategy.reduce_bucket_size", kElements},
    {"zero_optimization.allgather_bucket_size", KeyReads::integer, "strategy.allgather_bucket_size",
     kElements},
    {"zero_optimization.stage3_prefetch_bucket_size", KeyReads::integer, "strategy.prefetch_bucket_size"},
    {"zero_optimization.prefetch_bucket_size", KeyReads::integer, "strategy.prefetch_bucket_size"},
    {"zero_optimization.stage3_param_persistence_threshold", KeyReads::integer,
     "strategy.param_persistence_threshold"},
    {"zero_optimization.param_persistence_threshold", KeyReads::integer,
     "strategy.param_persistence_threshold"},
    {"zero_optimization.stage3_max_live_parameters", KeyReads::integer, "strategy.max_live_parameters"},
    {"zero_optimization.max_live_parameters", KeyReads::integer, "strategy.max_live_parameters"},
    {"zero_optimization.stage3_max_reuse_distance", KeyReads::integer, "strategy.max_reuse_distance"},
    {"zero_optimization.max_reuse_distance", KeyReads::integer, "strategy.max_reuse_distance"},
    // Rest of the offload, whose devices read_deepspeed_offload() has read.
    {"zero_optimization.offload_param.*", KeyReads::nothing, {}, "part of the offload of parameters"},
    {"zero_optimization.offload_optimizer.ratio",
     KeyReads::unmodelled,
     {},
     "a part of the optimizer's state stays on the GPU",
     "1.0"},
    {"zero_optimization.offload_optimizer.*", KeyReads::nothing, {}, "how the offload is buffered"},
    {"zero_optimization.zero_hpz_partition_size",
     KeyReads::unmodelled,
     {},
     "ZeRO++: weights are sharded inside nodes",
     "1"},
    // ZeRO++ and MiCS change what is sent, and to whom.
    {"zero_optimization.zero_quantized_weights", KeyReads::unmodelled, {}, "ZeRO++: gathers of 8 bits"},
    {"zero_optimization.zero_quantized_nontrainable_weights",
     KeyReads::unmodelled,
     {},
     "ZeRO++: gathers of 8 bits"},
    {"zero_optimization.zero_quantized_gradients", KeyReads::unmodelled, {}, "ZeRO++: gradients of 4 bits"},
    {"zero_optimization.zeropp_loco_param.*", KeyReads::unmodelled, {}, "ZeRO++: gradients of 4 bits"},
    {"zero_optimization.mics_shard_size",
     KeyReads::unmodelled,
     {},
     "MiCS: shards inside a group of so many GPUs",
     "-1"},
    {"zero_optimization.mics_hierarchical_params_gather", KeyReads::unmodelled, {}, "MiCS"},
    {"zero_optimization.allgather_partitions",
     KeyReads::usual,
     {},
     "false broadcasts every partition, which takes about as long"},
    {"zero_optimization.reduce_scatter",
     KeyReads::usual,
     {},
     "buckets that hold several ranks' slices are all-reduced either way"},
    {"zero_optimization.use_multi_rank_bucket_allreduce",
     KeyReads::unmodelled,
     {},
     "false reduces every rank's slice by itself",
     "true"},
    {"zero_optimization.stage3_use_all_reduce_for_fetch_params",
     KeyReads::unmodelled,
     {},
     "gathers by all-reduce move twice the bytes"},
    {"zero_optimization.stage3_module_granularity_threshold",
     KeyReads::unmodelled,
     {},
     "small modules are gathered together",
     "0"},
    {"zero_optimization.contiguous_gradients",
     KeyReads::usual,
     {},
     "gradients lie in one buffer, as here; false costs memory in pieces"},
    {"zero_optimization.round_robin_gradients", KeyReads::nothing, {}, "the order of copies to the host"},
    {"zero_optimization.sub_group_size",
     KeyReads::nothing,
     {},
     "the optimizer's step in parts, on GPUs as fast"},
    {"zero_optimization.*", KeyReads::nothing, {}, "of memory, checkpoints or loading"},
    // Types of gradients on the wire and in memory.
    {"gradient_accumulation_dtype", KeyReads::unmodelled, {}, "the type gradients are added up in", "fp32"},
    {"data_types.grad_accum_dtype", KeyReads::unmodelled, {}, "the type gradients are added up in", "fp32"},
    {"communication_data_type", KeyReads::unmodelled, {}, "gradients travel in the type of the weights here"},
    {"seq_parallel_communication_data_type", KeyReads::unmodelled, {}, "sequence parallel"},
    {"fp32_allreduce", KeyReads::unmodelled, {}, "gradients travel in 32 bit: twice the bytes"},
    {"sparse_gradients", KeyReads::unmodelled, {}, "gradients of embeddings travel as rows"},
    {"prescale_gradients", KeyReads::usual, {}, "one division before or behind"},
    {"gradient_predivide_factor", KeyReads::usual, {}, "one division before or behind"},
    {"disable_allgather", KeyReads::unmodelled, {}, "weights are not gathered"},
    // Details of precisions, which read_numbers() has chosen.
    {"fp16.auto_cast", KeyReads::nothing, {}, "a cast of the inputs"},
    {"fp16.*", KeyReads::nothing, {}, "how the loss is scaled"},
    {"bf16.immediate_grad_update", KeyReads::usual},
    {"bf16.*", KeyReads::usual},
    {"bfloat16.*", KeyReads::usual},
    {"amp.*", KeyReads::nothing, {}, "of Apex"},
    {"torch_autocast.*", KeyReads::nothing, {}, "of autocast"},
    {"optimizer.params.weight_decay", KeyReads::usual},
    {"optimizer.params.freeze_step", KeyReads::nothing, {}, "of 1-bit optimizers"},
    {"optimizer.*", KeyReads::nothing, {}, "numbers of the optimizer"},
    {"scheduler.*", KeyReads::nothing, {}, "learning rates"},
    {"activation_checkpointing.cpu_checkpointing",
     KeyReads::unmodelled,
     {},
     "saved activations are copied to host memory and back"},
    {"activation_checkpointing.partition_activations",
     KeyReads::unmodelled,
     {},
     "saved activations are gathered over tensor-parallel GPUs"},
    {"activation_checkpointing.profile", KeyReads::unmodelled, {}, "timers wait for the GPU"},
    {"activation_checkpointing.*",
     KeyReads::unmodelled,
     {},
     "forward passes run again in backward where the program calls DeepSpeed's checkpointing"},
    // Measurements that slow the step.
    {"wall_clock_breakdown", KeyReads::unmodelled, {}, "timers wait for the GPU in every micro-step"},
    {"memory_breakdown", KeyReads::unmodelled, {}, "memory is looked at in every step"},
    {"flops_profiler.enabled", KeyReads::unmodelled, {}, "the profiled step is slower"},
    {"comms_logger.enabled", KeyReads::unmodelled, {}, "every collective is waited for and logged"},
    // Parallelisms beyond data parallelism.
    {"tensor_parallel.autotp_size", KeyReads::unmodelled, {}, "tensor parallel", "1"},
    {"tensor_parallel.*", KeyReads::unmodelled, {}, "tensor parallel", "1"},
    {"sequence_parallel_size", KeyReads::unmodelled, {}, "sequence parallel", "1"},
    {"pipeline.stages", KeyReads::unmodelled, {}, "pipeline parallel", "1"},
    {"pipeline.*", KeyReads::nothing, {}, "of pipelines, which the program builds"},
    // Features that change the work of a step.
    {"sparse_attention.*", KeyReads::unmodelled, {}, "attention with fewer products"},
    {"progressive_layer_drop.enabled", KeyReads::unmodelled, {}, "layers are left out by chance"},
    {"compression_training.*", KeyReads::unmodelled, {}, "quantized or pruned layers"},
    {"quantize_training.*", KeyReads::unmodelled, {}, "quantized layers"},
    {"curriculum_learning.enabled", KeyReads::unmodelled, {}, "sequences grow during training"},
    {"data_efficiency.enabled", KeyReads::unmodelled, {}, "sequences grow, tokens are dropped"},
    {"zenflow.*", KeyReads::unmodelled, {}, "updates overlap with the next steps"},
    {"compile.deepcompile", KeyReads::unmodelled, {}, "DeepCompile places gathers itself"},
    {"hybrid_engine.enabled", KeyReads::unmodelled, {}, "generation between training steps"},
    {"elasticity.enabled", KeyReads::unmodelled, {}, "the batch follows from the number of GPUs"},
    {"autotuning.enabled", KeyReads::unmodelled, {}, "stage and batch are searched for"},
    {"eigenvalue.enabled", KeyReads::unmodelled, {}, "one more backward pass now and then"},
    {"dataloader_drop_last", KeyReads::flag, "data.drop_last"},
    // Details of features above, and sections without influence.
    {"flops_profiler.*", KeyReads::nothing},
    {"comms_logger.*", KeyReads::nothing},
    {"progressive_layer_drop.*", KeyReads::nothing},
    {"curriculum_learning.*", KeyReads::nothing},
    {"data_efficiency.*", KeyReads::nothing},
    {"hybrid_engine.*", KeyReads::nothing},
    {"elasticity.*", KeyReads::nothing},
    {"autotuning.*", KeyReads::nothing},
    {"eigenvalue.*", KeyReads::nothing},
    {"compile.*", KeyReads::nothing},
    {"monitor_config.*", KeyReads::nothing},
    {"steps_per_print", KeyReads::nothing},
    {"dump_state", KeyReads::nothing},
    {"tensorboard.*", KeyReads::nothing},
    {"wandb.*", KeyReads::nothing},
    {"csv_monitor.*", KeyReads::nothing},
    {"comet.*", KeyReads::nothing},
    {"aio.*", KeyReads::nothing, {}, "of NVMe"},
    {"checkpoint.*", KeyReads::nothing},
    {"nebula.*", KeyReads::nothing},
    {"data_types.*", KeyReads::nothing},
    {"zero_allow_untested_optimizer", KeyReads::nothing},
    {"zero_force_ds_cpu_optimizer", KeyReads::nothing},
    {"timers.*", KeyReads::nothing},
    {"use_data_before_expert_parallelism", KeyReads::nothing},
    {"graph_harvesting", KeyReads::nothing}};

/// Reads the stage of ZeRO. Before DeepSpeed had stages, zero_optimization was true or false; true was stage
/// 1.
void read_stage(SettingsReading& reading) {
  const YamlNode* whole = reading.find({"zero_optimization"});
  const bool is_flag = whole != nullptr && whole->kind == YamlNode::Kind::scalar;
  std::int64_t stage = 0;
  if (is_flag) {
    const auto on = reading.flag({"zero_optimization"});
    if (!on) return;
    stage = *on ? 1 : 0;
  } else if (const auto said = reading.integer({"zero_optimization.stage"}, 0, 3)) {
    stage = *said;
  } else if (reading.has("zero_optimization.stage")) {
    return;
  } else {
    return reading.by_default("no zero_optimization.stage: 0", {{"strategy.name", "\"zero0\""}});
  }
  reading.effect({{"strategy.name", fmt::format("\"zero{}\"", stage)}});
}

/// Returns whether a section such as fp16 is enabled. "auto" means what the program's argument says, --fp16
/// or --bf16; without known arguments it stays open.
bool is_on(SettingsReading& reading, const std::string& section, const char* argument) {
  const std::string path = section + ".enabled";
  if (!reading.is_auto(path)) return reading.flag({path}).value_or(false);
  const std::string told = reading.argument(argument);
  // --fp16 may stand alone, as a flag.
  if (!told.empty()) return flag_in(told).value_or(true);
  if (reading.context().arguments == nullptr)
    reading.fate(KeyFate::open,
                 fmt::format("\"auto\" is --{} of the program; --precision says it", argument));
  else
    reading.fate(KeyFate::usual, fmt::format("the program is not told --{}", argument));
  return false;
}

/// Reads Apex's mixed precision; from level O2 on weights have 16 bits.
void read_amp(SettingsReading& reading) {
  if (!reading.flag({"amp.enabled"}).value_or(false)) return;
  const bool half = reading.word({"amp.opt_level"}).value_or("o1") >= "o2";
  reading.effect_of("amp.enabled",
                    {{"model.precision", "\"amp_fp16\""}, {"model.half_weights", toml_flag(half)}});
}

/// Reads the precision. Both fp16 and bf16 keep 16-bit weights beside fp32 ones in the optimizer.
void read_numbers(SettingsReading& reading) {
  const bool fp16 = is_on(reading, "fp16", "fp16");
  if (fp16)
    reading.effect_of("fp16.enabled", {{"model.precision", "\"amp_fp16\""}, {"model.half_weights", "true"}});
  const std::string section = reading.has("bfloat16.enabled") ? "bfloat16" : "bf16";
  const bool bf16 = is_on(reading, section, "bf16");
  if (bf16)
    reading.effect_of(section + ".enabled",
                      {{"model.precision", "\"bf16\""}, {"model.half_weights", "true"}});
  // DeepSpeed takes one of them.
  if (fp16 && bf16)
    reading.mistake_at(section + ".enabled", "fp16 and bf16 are both enabled", "DeepSpeed takes one of them");
  read_amp(reading);
  if (reading.flag({"torch_autocast.enabled"}).value_or(false)) {
    const std::string type = reading.word({"torch_autocast.dtype"}).value_or("bfloat16");
    reading.effect_of("torch_autocast.enabled",
                      {{"model.precision", type == "float16" ? "\"amp_fp16\"" : "\"bf16\""}});
  }
}

/// Reads the optimizer. DeepSpeed's own Adam is one fused kernel unless torch_adam is true. One on the CPU is
/// another one, which the offload decides.
void read_deepspeed_optimizer(SettingsReading& reading) {
  const auto type = reading.word({"optimizer.type"});
  if (!type) return;
  const bool of_torch = reading.flag({"optimizer.params.torch_adam"}).value_or(false);
  // adam_w_mode is true by default, so Adam decays weights as AdamW does.
  const bool decoupled = reading.flag({"optimizer.params.adam_w_mode"}).value_or(true);
  const bool is_adam = *type == "adam" || *type == "adamw" || *type == "fusedadam";
  reading.find({"optimizer.type"});
  // adam_w_mode and torch_adam count for Adam alone.
  if (is_adam) {
    std::vector<SettingEffect> effects{
        {"model.optimizer", *type == "adam" && !decoupled ? "\"adam\"" : "\"adamw\""}};
    if (!of_torch) effects.push_back({"model.optimizer_form", "\"fused\""});
    return reading.effect(std::move(effects), of_torch ? "" : "DeepSpeed's FusedAdam");
  }
  if (type->starts_with("onebit") || type->starts_with("zeroone"))
    return reading.fate(KeyFate::not_modelled, "compressed exchange of gradients after its warm-up");
  if (!put_optimizer(reading, *type))
    reading.fate(KeyFate::not_modelled, "no optimizer that is known; --set model.optimizer=NAME says one");
}

/// Reads the clipping of gradients; "auto" is max_grad_norm of Hugging Face's Trainer.
void read_clipping(SettingsReading& reading) {
  constexpr const char* kPath = "gradient_clipping";
  if (reading.is_auto(kPath)) {
    const std::string told = reading.argument("clip");
    if (told.empty() && reading.context().arguments == nullptr)
      return reading.fate(KeyFate::open,
                          "\"auto\" is max_grad_norm of the program; --set loop.clip_grad_norm says it");
    const bool clips = told.empty() || number_in(told).value_or(1) > 0;
    return reading.effect_of(kPath, {{"loop.clip_grad_norm", clips ? "\"on_device\"" : "\"none\""}});
  }
  const auto norm = reading.number({kPath});
  if (!norm) return;
  if (*norm < 0) return reading.mistake("gradient_clipping is less than 0");
  reading.effect({{"loop.clip_grad_norm", *norm > 0 ? "\"on_device\"" : "\"none\""}});
}

/// Explains sizes that Hugging Face fills in from the width of the network, which the file does not have.
void explain_auto_sizes(SettingsReading& reading) {
  struct Size {
    const char *path, *meaning, *key;
  };
  for (const Size& size :
       {Size{"zero_optimization.reduce_bucket_size", "the network's width squared", "reduce_bucket_size"},
        Size{"zero_optimization.stage3_prefetch_bucket_size", "0.9 times the network's width squared",
             "prefetch_bucket_size"},
        Size{"zero_optimization.stage3_param_persistence_threshold", "10 times the network's width",
             "param_persistence_threshold"}}) {
    if (reading.is_auto(size.path))
      reading.fate(KeyFate::open,
                   fmt::format("\"auto\" is {}; --set strategy.{}=N says it", size.meaning, size.key));
  }
}

}  // namespace

/// Returns whether a tree has a key of DeepSpeed at its top, or a section for a precision.
/// Hugging Face's arguments may name the same keys; the batch of the Trainer tells them apart.
bool is_deepspeed(const YamlNode& tree) {
  constexpr std::array<std::string_view, 6> kMarks{"zero_optimization",    "train_micro_batch_size_per_gpu",
                                                   "train_batch_size",     "zero_allow_untested_optimizer",
                                                   "wall_clock_breakdown", "gradient_clipping"};
  const bool has_mark =
      std::ranges::any_of(kMarks, [&](std::string_view mark) { return !tree.at(mark).is_null(); });
  const bool has_section =
      tree.at("fp16").kind == YamlNode::Kind::map || tree.at("bf16").kind == YamlNode::Kind::map;
  return (has_mark || has_section) && tree.at("per_device_train_batch_size").is_null();
}

/// The batch comes first, since it gives the number of GPUs where all three counts are there.
void read_deepspeed(SettingsReading& reading) {
  read_deepspeed_batch(reading);
  read_stage(reading);
  read_deepspeed_offload(reading);
  read_numbers(reading);
  read_deepspeed_optimizer(reading);
  read_clipping(reading);
  explain_auto_sizes(reading);
  if (const auto decay = reading.number({"optimizer.params.weight_decay"}))
    reading.effect({{"model.weight_decay", toml_flag(*decay != 0)}});
  reading.apply(kDeepSpeedRules);
}

}  // namespace foretrain
