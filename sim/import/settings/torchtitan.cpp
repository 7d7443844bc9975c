// Reads torchtitan's TOML (torchtitan/config/job_config.py), and the names of 2024, when [training] had the
// degrees:
//
//   [training]
//   local_batch_size = 8
//   [parallelism]
//   data_parallel_shard_degree = -1
//   tensor_parallel_degree = 8
//
// A file that cuts the network over GPUs becomes a layout, [parallel]; other files become FSDP2, or DDP.
// Taken are degrees, batch, precision, recomputation, optimizer and compilation. Data sets, logging and
// checkpoints have no influence. Types that are none, and batches that do not fit, are mistakes.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/import/settings/fsdp_keys.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// Keys that no function below reads. A row for a whole section stands behind those of its keys.
constexpr KeyRule kTorchtitanRules[] = {
    // Memory and arithmetic.
    {"training.enable_cpu_offload",
     KeyReads::unmodelled,
     {},
     "parameters in host memory are copied for every block"},
    {"training.dtype", KeyReads::unmodelled, {}, "the type of the weights", "float32"},
    {"training.deterministic", KeyReads::unmodelled, {}, "deterministic kernels may be slower"},
    {"training.gc_freq", KeyReads::nothing, {}, "collection of garbage once in so many steps"},
    {"training.*", KeyReads::nothing, {}, "the data set, its sequences, the length of the run"},
    // Details of parallelisms.
    {"parallelism.enable_async_tensor_parallel", KeyReads::nothing, {}, "of tensor parallel"},
    {"parallelism.disable_loss_parallel", KeyReads::nothing, {}, "of tensor parallel"},
    {"parallelism.enable_compiled_autograd", KeyReads::unmodelled, {}, "backward is compiled as a whole"},
    {"parallelism.*", KeyReads::nothing, {}, "of pipelines"},
    {"activation_checkpoint.*", KeyReads::nothing, {}, "which operators run again"},
    {"optimizer.early_step_in_backward", KeyReads::unmodelled, {}, "parameters are updated beside backward"},
    {"optimizer.*", KeyReads::nothing, {}, "numbers of the optimizer"},
    {"model.converters", KeyReads::unmodelled, {}, "8-bit products; --precision fp8 says it"},
    {"float8.*", KeyReads::nothing, {}, "of converters"},
    {"quantize.*", KeyReads::nothing, {}, "of converters"},
    {"profiling.enable_profiling", KeyReads::unmodelled, {}, "profiled steps are slower"},
    {"profiling.enable_memory_snapshot", KeyReads::unmodelled, {}, "profiled steps are slower"},
    {"fault_tolerance.enable", KeyReads::unmodelled, {}, "replicas exchange through torchft"},
    {"experimental.enable_async_tensor_parallel", KeyReads::nothing, {}, "of tensor parallel"},
    // Sections without influence.
    {"experimental.*", KeyReads::nothing},
    {"compile.*", KeyReads::nothing},
    {"profiling.*", KeyReads::nothing},
    {"fault_tolerance.*", KeyReads::nothing},
    {"job.*", KeyReads::nothing},
    {"metrics.*", KeyReads::nothing},
    {"model.*", KeyReads::nothing, {}, "the network; --model NAME says which"},
    {"lr_scheduler.*", KeyReads::nothing},
    {"checkpoint.*", KeyReads::nothing, {}, "[run.every.checkpoint] says how often"},
    {"comm.*", KeyReads::nothing},
    {"memory_estimation.*", KeyReads::nothing},
    {"validation.*", KeyReads::nothing}};

/// Returns a degree under its present name or one of its earlier names; -1 means all GPUs.
std::int64_t degree(SettingsReading& reading, std::string_view name, std::int64_t usual) {
  const std::string now = fmt::format("parallelism.{}", name), then = fmt::format("training.{}", name),
                    early = fmt::format("experimental.{}", name);
  return reading.integer({now, then, early}, -1, 1'000'000).value_or(usual);
}

/// Tells that the number of copies, under whichever of its names, is part of the prediction.
void tell_copies(SettingsReading& reading) {
  for (const char* section : {"parallelism", "training", "experimental"})
    reading.fate_of(fmt::format("{}.data_parallel_replicate_degree", section), KeyFate::usual,
                    "copies of the shards");
}

/// A degree, its key of the scenario, and whether it multiplies the GPUs of a replica. Expert parallelism
/// shares the GPUs of others.
struct TitanDegree {
  const char *name, *key;
  bool multiplies = true;
};
/// Degrees beside data parallelism.
constexpr TitanDegree kTitanDegrees[] = {{"tensor_parallel_degree", "parallel.tensor"},
                                         {"pipeline_parallel_degree", "parallel.pipeline"},
                                         {"context_parallel_degree", "parallel.context"},
                                         {"expert_parallel_degree", "parallel.expert", false}};

/// Returns whether the network is cut over GPUs, which [parallel] predicts. Selective recomputation needs it,
/// too.
bool is_titan_layout(SettingsReading& reading) {
  const auto mode = reading.word({"activation_checkpoint.mode"});
  return (mode && *mode == "selective") || std::ranges::any_of(kTitanDegrees, [&](const TitanDegree& row) {
           return degree(reading, row.name, 1) > 1;
         });
}

/// Returns the GPUs of a replica that are not data parallel, and tells the degrees.
std::int64_t read_model_degrees(SettingsReading& reading, bool cut) {
  std::int64_t all = 1;
  for (const TitanDegree& row : kTitanDegrees) {
    const std::int64_t value = degree(reading, row.name, 0);
    if (value == 0) continue;
    if (cut && value > 0)
      reading.effect({{row.key, std::to_string(value)}});
    else
      reading.fate(KeyFate::usual);
    if (row.multiplies) all = std::min<std::int64_t>(all * std::max<std::int64_t>(1, value), 1'000'000);
  }
  return all;
}

/// Reads recomputation: selective by operator, or every n-th layer as a whole (selective_ac_option).
void read_titan_checkpoints(SettingsReading& reading) {
  const auto mode = reading.word({"activation_checkpoint.mode"});
  if (!mode || (*mode != "full" && *mode != "selective" && *mode != "none")) return;
  const std::string option = reading.word({"activation_checkpoint.selective_ac_option"}).value_or("op");
  const auto every = number_in(option);
  reading.find({"activation_checkpoint.mode"});
  if (*mode != "selective" || !every || *every < 1 || *every > 1000)
    return reading.effect({{"parallel.recompute", toml_text(*mode)}});
  reading.effect({{"parallel.recompute", "\"full\""}});
  reading.effect_of("activation_checkpoint.selective_ac_option",
                    {{"parallel.recomputed_share", fmt::format("{}", 1 / *every)}},
                    "every so many layers as a whole");
}

/// Reads the network: "llama3" and "8B" name one of the catalog, if it is there.
void read_titan_model(SettingsReading& reading) {
  const auto size = reading.word({"model.flavor"});
  const auto family = reading.word({"model.name"});
  if (!family || !size) return;
  const std::string model = catalog_model(*family, *size);
  if (model.empty()) return reading.fate(KeyFate::open, "--model NAME says which network");
  reading.effect({{"model.name", toml_text(model)}});
  reading.fate_of("model.flavor", KeyFate::usual, "part of the network's name");
}

/// Reads the batch of a layout with `data` replicas; 0: their number is not known.
void read_layout_batch(SettingsReading& reading, std::int64_t data) {
  const auto local = reading.integer({"training.local_batch_size", "training.batch_size"}, 1, 1'000'000);
  const auto micro = reading.integer({"parallelism.pipeline_parallel_microbatch_size"}, 1, 1'000'000);
  // Without a pipeline the local batch is one micro-batch.
  const bool pipeline = degree(reading, "pipeline_parallel_degree", 1) > 1;
  const auto whole = reading.integer({"training.global_batch_size"}, -1, 100'000'000);
  if (whole) reading.fate(KeyFate::usual, "part of the layout");
  if (local) {
    reading.find({"training.local_batch_size", "training.batch_size"});
    std::vector<SettingEffect> batch{
        {"parallel.micro_batch", std::to_string(pipeline ? micro.value_or(1) : *local)}};
    if (whole.value_or(0) > 0)
      batch.push_back({"parallel.global_batch", std::to_string(*whole)});
    else if (data > 0)
      batch.push_back({"parallel.global_batch", std::to_string(*local * data)});
    reading.effect(std::move(batch));
  }
  if (const auto tokens = reading.integer({"training.seq_len"}, 1, 100'000'000))
    reading.effect({{"parallel.sequence", std::to_string(*tokens)}});
  read_titan_checkpoints(reading);
}

/// Reads the batch and sharding of [parallel]: FSDP over all ranks, or copies of groups that shard.
void read_torchtitan_layout(SettingsReading& reading, std::int64_t others) {
  const std::int64_t copies = std::max<std::int64_t>(1, degree(reading, "data_parallel_replicate_degree", 1));
  tell_copies(reading);
  const std::int64_t shards = degree(reading, "data_parallel_shard_degree", -1);
  std::vector<SettingEffect> effects{{"parallel.framework", "\"torchtitan\""},
                                     {"parallel.shard", shards == 1 ? "\"none\"" : "\"parameters\""}};
  if (shards > 1 && copies > 1) effects.push_back({"parallel.shard_group", std::to_string(shards)});
  // The number of replicas is known only where the degree of sharding is.
  const std::int64_t data = shards > 0 ? std::min<std::int64_t>(shards * copies, 1'000'000) : 0;
  if (data > 0) {
    const std::int64_t all = std::min<std::int64_t>(data * others, 1'000'000);
    effects.push_back({"run.gpus", fmt::format("[{}]", all)});
    reading.out().processes = static_cast<int>(all);
  }
  if (reading.has("parallelism.data_parallel_shard_degree") ||
      reading.has("training.data_parallel_shard_degree"))
    reading.fate(KeyFate::usual, "part of the layout");
  reading.by_default("torchtitan", std::move(effects));
  read_layout_batch(reading, data);
}

/// Reads a file that does not cut the network: FSDP2 over all GPUs, copies of it, or DDP where nothing is
/// sharded.
void read_torchtitan_strategy(SettingsReading& reading, std::int64_t others) {
  const std::int64_t copies = degree(reading, "data_parallel_replicate_degree", 1);
  const std::int64_t shards = degree(reading, "data_parallel_shard_degree", -1);
  // Copies of a network that is not sharded are DDP.
  const bool plain = shards == 1 && copies > 1;
  if (const auto on = reading.flag({"training.enable_cpu_offload"}))
    reading.effect({{"strategy.offload_params", toml_flag(*on)}});
  std::vector<SettingEffect> effects{{"strategy.name", plain ? "\"ddp\"" : "\"fsdp2\""}};
  // Copies of shards are hybrid sharding.
  if (copies > 1 && !plain) effects.push_back({"strategy.sharding", "\"hybrid_shard\""});
  const bool says = reading.has("parallelism.data_parallel_shard_degree") ||
                    reading.has("training.data_parallel_shard_degree");
  if (shards >= 1 && copies >= 1) {
    const std::int64_t all = std::min<std::int64_t>(shards * copies, 1'000'000) * others;
    effects.push_back({"run.gpus", gpu_list(std::min<std::int64_t>(all, 1'000'000))});
    reading.out().processes = static_cast<int>(std::min<std::int64_t>(all, 1'000'000));
  }
  const char* note = copies > 1 && !plain ? "shards inside a node, whatever the degree" : "";
  if (says)
    reading.effect(std::move(effects), note);
  else
    reading.by_default("torchtitan shards over all GPUs", std::move(effects));
  tell_copies(reading);
  const auto reshard =
      reading.word({"parallelism.fsdp_reshard_after_forward", "training.fsdp_reshard_after_forward"});
  if (!reshard) return;
  if (*reshard == "never") return reading.effect({{"strategy.sharding", "\"shard_grad_op\""}});
  reading.fate(KeyFate::usual);
}

/// Reads the batch of a file that does not cut the network. The micro-steps follow once the number of GPUs is
/// known.
void read_torchtitan_batch(SettingsReading& reading) {
  const auto batch = reading.integer({"training.local_batch_size", "training.batch_size"}, 1, 1'000'000);
  if (batch) reading.effect({{"model.batch_per_gpu", std::to_string(*batch)}});
  const auto all = reading.integer({"training.global_batch_size"}, -1, 100'000'000);
  if (!all) return;
  // -1 means one micro-step on each GPU.
  if (*all < 1) return reading.fate(KeyFate::usual, "no accumulation");
  // The job's number of GPUs wins over that of the degrees.
  const int gpus = reading.context().gpus > 0 ? reading.context().gpus : reading.out().processes;
  if (gpus == 0 || !batch)
    return reading.fate(KeyFate::open, "says the micro-steps once the number of GPUs is known (--gpus N)");
  if (*all % (*batch * gpus) != 0 || *all / (*batch * gpus) > 4096)
    return reading.mistake(
        fmt::format("global_batch_size = {} is no multiple of {} samples x {} GPUs", *all, *batch, gpus));
  reading.effect({{"strategy.accumulation", std::to_string(*all / (*batch * gpus))}});
}

/// Reads recomputation of a file that does not cut the network.
void read_torchtitan_recomputation(SettingsReading& reading) {
  const auto mode = reading.word({"activation_checkpoint.mode"});
  if (mode && *mode == "full") reading.effect({{"model.recompute", "true"}});
  if (mode && *mode == "none") reading.fate(KeyFate::usual, "");
  if (mode && *mode != "full" && *mode != "none")
    reading.fate(KeyFate::not_modelled, "some operators run again in backward");
}

/// Reads mixed_precision_reduce, which is float32 by default. Layouts sum in the type that
/// parallel.gradient_bytes gives.
void read_torchtitan_sums(SettingsReading& reading, bool is_layout) {
  const auto type = reading.word({"training.mixed_precision_reduce"});
  if (!type) {
    if (!is_layout)
      reading.by_default("mixed_precision_reduce is float32 by default",
                         {{"strategy.reduce_dtype", "\"fp32\""}});
    return;
  }
  if (*type != "float32" && *type != "bfloat16" && *type != "float16")
    return reading.mistake(fmt::format("\"{}\" is no type", *type), "float32, bfloat16 or float16");
  if (is_layout) return reading.effect({{"parallel.gradient_bytes", *type == "float32" ? "4" : "2"}});
  put_fsdp_reduce_type(reading, *type);
}

/// Reads precision, compilation, optimizer and clipping, which both kinds of files have.
void read_torchtitan_rest(SettingsReading& reading, bool half_weights) {
  if (const auto type = reading.word({"training.mixed_precision_param"})) {
    if (!put_precision(reading, *type, half_weights))
      reading.mistake(fmt::format("\"{}\" is no type", *type), "bfloat16 or float32");
  } else {
    std::vector<SettingEffect> effects{{"model.precision", "\"bf16\""}};
    if (half_weights) effects.push_back({"model.half_weights", "true"});
    reading.by_default("mixed_precision_param is bfloat16 by default", std::move(effects));
  }
  if (const auto on = reading.flag({"compile.enable", "training.compile"}))
    reading.effect({{"framework.execution", *on ? "\"compiled\"" : "\"eager\""}});
  if (const auto name = reading.word({"optimizer.name"})) {
    if (!put_optimizer(reading, *name)) reading.fate(KeyFate::not_modelled, "no optimizer that is known");
  }
  // Either key names the form of the optimizer's kernels.
  const auto form = reading.word({"optimizer.implementation"});
  if (form)
    reading.effect({{"model.optimizer_form", *form == "for-loop"  ? "\"for_loop\""
                                             : *form == "foreach" ? "\"foreach\""
                                                                  : "\"fused\""}});
  if (const auto fused = reading.flag({"optimizer.fused"}))
    reading.effect({{"model.optimizer_form", *fused ? "\"fused\"" : "\"foreach\""}});
  if (const auto norm = reading.number({"training.max_norm"}))
    reading.effect({{"loop.clip_grad_norm", *norm > 0 ? "\"on_device\"" : "\"none\""}});
}

}  // namespace

/// Other tools have a table `training` as well, so a second section and a typical key are needed.
bool is_torchtitan(const YamlNode& tree) {
  const YamlNode& training = tree.at("training");
  if (training.kind != YamlNode::Kind::map) return false;
  const bool has_section = tree.at("parallelism").kind == YamlNode::Kind::map ||
                           tree.at("job").kind == YamlNode::Kind::map ||
                           tree.at("activation_checkpoint").kind == YamlNode::Kind::map;
  constexpr std::array<std::string_view, 5> kMarks{"local_batch_size", "data_parallel_shard_degree",
                                                   "batch_size", "mixed_precision_param", "max_norm"};
  return has_section &&
         std::ranges::any_of(kMarks, [&](std::string_view mark) { return !training.at(mark).is_null(); });
}

/// The degrees decide whether the file is a layout, and a layout has options of its own.
void read_torchtitan(SettingsReading& reading) {
  const bool cut = is_titan_layout(reading);
  const std::int64_t others = read_model_degrees(reading, cut);
  read_titan_model(reading);
  if (cut) {
    read_torchtitan_layout(reading, others);
  } else {
    read_torchtitan_strategy(reading, others);
    read_torchtitan_batch(reading);
    read_torchtitan_recomputation(reading);
  }
  read_torchtitan_rest(reading, !cut);
  read_torchtitan_sums(reading, cut);
  reading.apply(kTorchtitanRules);
}

}  // namespace foretrain
