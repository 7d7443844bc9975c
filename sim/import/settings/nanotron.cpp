// Reads nanotron's YAML (src/nanotron/config/config.py and parallelism_config.py):
//
//   parallelism: {dp: 8, tp: 2, pp: 4}
//   tokens: {micro_batch_size: 2, batch_accumulation_per_replica: 16, sequence_length: 4096}
//
// A file that cuts the network becomes a layout, [parallel]; others become DDP or ZeRO 1. A product of
// degrees that is not the number of GPUs is a mistake.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// Keys that no function below reads.
constexpr KeyRule kNanotronRules[] = {
    {"parallelism.recompute_layer", KeyReads::unmodelled, {}, "forward passes run again in backward"},
    {"parallelism.moe_layer_recompute", KeyReads::unmodelled, {}, "forward passes run again in backward"},
    {"parallelism.tp_recompute_allgather", KeyReads::nothing, {}, "of tensor parallel"},
    {"parallelism.tp_linear_async_communication", KeyReads::nothing, {}, "of tensor parallel"},
    {"parallelism.tp_mode", KeyReads::nothing, {}, "of tensor parallel"},
    {"parallelism.pp_engine", KeyReads::nothing, {}, "of pipelines"},
    {"optimizer.accumulate_grad_in_fp32",
     KeyReads::unmodelled,
     {},
     "gradients are added up and exchanged in 32 bit"},
    // Rest of the sections.
    {"optimizer.optimizer_factory.*", KeyReads::nothing, {}, "numbers of the optimizer"},
    {"optimizer.*", KeyReads::nothing, {}, "learning rates"},
    {"profiler.*", KeyReads::unmodelled, {}, "a profiler slows the step"},
    {"model.ddp_bucket_cap_mb", KeyReads::mebibytes, "strategy.bucket_cap"},
    {"model.*", KeyReads::nothing, {}, "the network; --model NAME says which"},
    {"tokens.*", KeyReads::nothing, {}, "the length of the run and of its sequences"},
    {"data_stages", KeyReads::nothing, {}, "the data set"},
    {"data_stages.*", KeyReads::nothing, {}, "the data set"},
    {"data.num_loading_workers", KeyReads::integer, "data.workers_per_gpu"},
    {"data.*", KeyReads::nothing, {}, "the data set"},
    {"general.*", KeyReads::nothing},
    {"checkpoints.*", KeyReads::nothing, {}, "[run.every.checkpoint] says how often"},
    {"logging.*", KeyReads::nothing},
    {"tokenizer.*", KeyReads::nothing},
    {"lighteval.*", KeyReads::nothing},
    {"s3_upload.*", KeyReads::nothing},
    {"metrics_logging.*", KeyReads::nothing}};

/// A degree, its key of the scenario, and whether it multiplies the GPUs.
struct NanotronDegree {
  const char *path, *key;
  bool multiplies = true;
};
/// Expert parallelism lies in the data-parallel group, so it does not multiply.
constexpr NanotronDegree kNanotronDegrees[] = {
    {"parallelism.tp", "parallel.tensor"},
    {"parallelism.pp", "parallel.pipeline"},
    {"parallelism.context_parallel_size", "parallel.context"},
    {"parallelism.expert_parallel_size", "parallel.expert", false}};

/// Returns whether the network is cut over GPUs, which [parallel] predicts.
bool is_nanotron_layout(SettingsReading& reading) {
  return std::ranges::any_of(kNanotronDegrees, [&](const NanotronDegree& degree) {
    return reading.integer({degree.path}, 1, 100'000).value_or(1) > 1;
  });
}

/// Reads the degrees. Their product is the number of GPUs, which nanotron checks at its start, too.
void read_nanotron_degrees(SettingsReading& reading, bool cut) {
  const auto dp = reading.integer({"parallelism.dp"}, 1, 1'000'000);
  // The product of all degrees that multiply.
  std::int64_t all = dp.value_or(1);
  if (dp) reading.fate(KeyFate::usual, "data parallel");
  for (const NanotronDegree& degree : kNanotronDegrees) {
    const auto value = reading.integer({degree.path}, 1, 100'000);
    if (!value) continue;
    if (cut)
      reading.effect({{degree.key, std::to_string(*value)}});
    else
      reading.fate(KeyFate::usual);
    if (degree.multiplies) all = std::min<std::int64_t>(all * *value, 1'000'000);
  }
  if (!dp) return;
  reading.out().processes = static_cast<int>(all);
  // The job's number of GPUs must be the product.
  const int gpus = reading.context().gpus;
  if (gpus > 0 && gpus != all)
    return reading.mistake_at("parallelism.dp",
                              fmt::format("dp x tp x pp are {} GPUs; there are {}", all, gpus),
                              "nanotron stops at that");
  reading.effect_of("parallelism.dp", {{"run.gpus", cut ? fmt::format("[{}]", all) : gpu_list(all)}},
                    "dp x tp x pp GPUs");
}

/// Reads a file of data parallelism alone.
void read_nanotron_strategy(SettingsReading& reading) {
  if (const auto batch = reading.integer({"tokens.micro_batch_size"}, 1, 1'000'000))
    reading.effect({{"model.batch_per_gpu", std::to_string(*batch)}});
  if (const auto steps = reading.integer({"tokens.batch_accumulation_per_replica"}, 1, 4096))
    reading.effect({{"strategy.accumulation", std::to_string(*steps)}});
  const auto stage = reading.integer({"optimizer.zero_stage"}, 0, 1);
  if (stage)
    reading.effect({{"strategy.name", *stage == 0 ? "\"ddp\"" : "\"zero1\""}},
                   *stage == 0 ? "" : "predicted as DeepSpeed's stage 1, which all-reduces");
  else
    reading.by_default("stage 0: DistributedDataParallel", {{"strategy.name", "\"ddp\""}});
}

/// Reads batch, sharding and pipeline of [parallel].
void read_nanotron_layout(SettingsReading& reading) {
  const std::int64_t dp = reading.integer({"parallelism.dp"}, 1, 1'000'000).value_or(0);
  const auto micro = reading.integer({"tokens.micro_batch_size"}, 1, 1'000'000);
  if (micro) reading.effect({{"parallel.micro_batch", std::to_string(*micro)}});
  const auto steps = reading.integer({"tokens.batch_accumulation_per_replica"}, 1, 4096);
  if (steps && micro && dp > 0)
    reading.effect({{"parallel.global_batch", std::to_string(*micro * *steps * dp)}}, "of all replicas");
  else if (steps)
    reading.fate(KeyFate::open, "says the global batch once dp and micro_batch_size are known");
  if (const auto tokens = reading.integer({"seq_length"}, 1, 100'000'000))
    reading.effect({{"parallel.sequence", std::to_string(*tokens)}});
  const bool shards = reading.integer({"optimizer.zero_stage"}, 0, 1).value_or(0) == 1;
  reading.by_default("nanotron", {{"parallel.framework", "\"nanotron\""},
                                  {"parallel.shard", shards ? "\"optimizer\"" : "\"none\""}});
  if (reading.has("optimizer.zero_stage")) reading.fate(KeyFate::usual, "part of the layout");
  if (const auto mode = reading.word({"parallelism.tp_mode"}))
    reading.effect({{"parallel.sequence_parallel", toml_flag(*mode == "reduce_scatter")}});
  const auto engine = reading.word({"parallelism.pp_engine"});
  if (engine && (*engine == "1f1b" || *engine == "afab"))
    reading.effect({{"parallel.schedule", toml_text(*engine)}});
}

}  // namespace

/// Other tools have `parallelism`; `tokens` beside it is nanotron's.
bool is_nanotron(const YamlNode& tree) {
  return tree.at("parallelism").kind == YamlNode::Kind::map && tree.at("tokens").kind == YamlNode::Kind::map;
}

/// nanotron trains networks in Llama's form.
void read_nanotron(SettingsReading& reading) {
  static constexpr KeyName kNetwork[] = {
      // The sizes of the network, with Megatron-LM's names.
      {"model.model_config.num_hidden_layers", "num_layers"},
      {"model.model_config.hidden_size", "hidden_size"},
      {"model.model_config.num_attention_heads", "num_attention_heads"},
      {"model.model_config.num_key_value_heads", "num_query_groups"},
      {"model.model_config.intermediate_size", "ffn_hidden_size"},
      {"model.model_config.vocab_size", "vocab_size"},
      {"model.model_config.tie_word_embeddings", "share_embeddings_and_output_weights"},
      {"model.model_config.hidden_act", "hidden_act"},
      {"tokens.sequence_length", "seq_length"}};
  // From here on the network's keys have Megatron-LM's names.
  reading.rename(kNetwork);
  read_gated_network(reading);
  const bool cut = is_nanotron_layout(reading);
  read_nanotron_degrees(reading, cut);
  if (cut)
    read_nanotron_layout(reading);
  else
    read_nanotron_strategy(reading);
  if (const auto type = reading.word({"model.dtype"})) {
    if (!put_precision(reading, *type, !cut)) reading.mistake(fmt::format("\"{}\" is no dtype", *type));
  }
  const bool fused = reading.flag({"optimizer.optimizer_factory.torch_adam_is_fused"}).value_or(false);
  if (const auto name = reading.word({"optimizer.optimizer_factory.name", "optimizer.optimizer_factory"})) {
    if (!put_optimizer(reading, *name)) reading.fate(KeyFate::not_modelled, "no optimizer that is known");
  }
  if (fused)
    reading.effect_of("optimizer.optimizer_factory.torch_adam_is_fused",
                      {{"model.optimizer_form", "\"fused\""}});
  if (const auto norm = reading.number({"optimizer.clip_grad"}))
    reading.effect({{"loop.clip_grad_norm", *norm > 0 ? "\"on_device\"" : "\"none\""}});
  if (const auto decay = reading.number({"optimizer.weight_decay"}))
    reading.effect({{"model.weight_decay", toml_flag(*decay != 0)}});
  reading.apply(kNanotronRules);
}

}  // namespace foretrain
