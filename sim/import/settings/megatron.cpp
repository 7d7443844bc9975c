// Reads Megatron-LM's arguments (megatron/training/arguments.py), on a command line or in its YAML:
//
//   --tensor-model-parallel-size 8 --pipeline-model-parallel-size 4 --micro-batch-size 1 --bf16
//
// A run whose network is cut over GPUs, or is a decoder that the arguments describe, becomes a layout,
// [parallel], with its network. Other runs become a strategy of data parallelism. Degrees that do not fit the
// GPUs, and batches that do not divide, are mistakes.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// Arguments that matter only where no layout is read, or that one row describes whole.
constexpr KeyRule kMegatronRules[] = {
    // Parts of a layout, which only [parallel] models.
    {"sequence_parallel", KeyReads::unmodelled, {}, "sequence parallel"},
    {"num_layers_per_virtual_pipeline_stage", KeyReads::unmodelled, {}, "interleaved pipeline"},
    {"num_experts", KeyReads::unmodelled, {}, "mixture of experts"},
    {"recompute_activations", KeyReads::unmodelled, {}, "forward passes run again in backward"},
    {"recompute_granularity", KeyReads::unmodelled, {}, "forward passes run again in backward"},
    {"recompute_method", KeyReads::nothing},
    {"recompute_num_layers", KeyReads::nothing},
    {"cpu_offloading", KeyReads::unmodelled, {}, "activations are copied to host memory"},
    {"optimizer_cpu_offload", KeyReads::unmodelled, {}, "the optimizer runs on the host"},
    {"use_torch_fsdp2", KeyReads::usual},
    // Exchange of gradients and weights.
    {"overlap_param_gather", KeyReads::unmodelled, {}, "weights are gathered beside the next forward pass"},
    {"accumulate_allreduce_grads_in_fp32",
     KeyReads::unmodelled,
     {},
     "gradients of 32 bit: twice the bytes of an exchange"},
    {"grad_reduce_in_bf16", KeyReads::usual},
    {"tp_comm_overlap", KeyReads::unmodelled, {}, "of tensor parallel"},
    {"fp8_format", KeyReads::unmodelled, {}, "--precision fp8 says it"},
    {"use_flash_attn", KeyReads::usual, {}, "the attention of the model file"},
    {"num_workers", KeyReads::integer, "data.workers_per_gpu"},
    {"ddp_bucket_size", KeyReads::unmodelled, {}, "elements of a bucket"},
    {"distributed_backend", KeyReads::unmodelled, {}, "strategy.backend says gloo", "nccl"},
    {"check_for_nan_in_loss_and_grad", KeyReads::unmodelled, {}, "the host waits for the gradients' norm"},
    {"profile", KeyReads::unmodelled, {}, "profiled steps are slower"}};

/// Arguments that name the network, the data, or the length of the run.
/// The order is: network, initial values and dropout, learning rates, length of the run, files and tokenizer,
/// logging, implementation, experts.
constexpr const char* kMegatronIdle[] = {"num_layers",
                                         "hidden_size",
                                         "ffn_hidden_size",
                                         "num_attention_heads",
                                         "num_query_groups",
                                         "group_query_attention",
                                         "seq_length",
                                         "encoder_seq_length",
                                         "decoder_seq_length",
                                         "max_position_embeddings",
                                         "position_embedding_type",
                                         "rotary_base",
                                         "rotary_percent",
                                         "normalization",
                                         "swiglu",
                                         "disable_bias_linear",
                                         "untie_embeddings_and_output_weights",
                                         "vocab_size",
                                         "make_vocab_size_divisible_by",
                                         "attention_dropout",
                                         "hidden_dropout",
                                         "init_method_std",
                                         "lr",
                                         "min_lr",
                                         "lr_decay_style",
                                         "lr_decay_iters",
                                         "lr_warmup_iters",
                                         "lr_warmup_fraction",
                                         "lr_warmup_samples",
                                         "lr_decay_samples",
                                         "adam_beta1",
                                         "adam_beta2",
                                         "adam_eps",
                                         "train_iters",
                                         "train_samples",
                                         "eval_iters",
                                         "eval_interval",
                                         "save",
                                         "load",
                                         "save_interval",
                                         "log_interval",
                                         "data_path",
                                         "vocab_file",
                                         "merge_file",
                                         "tokenizer_type",
                                         "tokenizer_model",
                                         "split",
                                         "data_cache_path",
                                         "tensorboard_dir",
                                         "wandb_project",
                                         "wandb_exp_name",
                                         "seed",
                                         "loss_scale",
                                         "initial_loss_scale",
                                         "distributed_timeout_minutes",
                                         "use_mcore_models",
                                         "transformer_impl",
                                         "rampup_batch_size",
                                         "exit_duration_in_mins",
                                         "no_async_tensor_model_parallel_allreduce",
                                         "attention_softmax_in_fp32",
                                         "attention_backend",
                                         "bert_no_binary_head",
                                         "log_throughput",
                                         "log_timers_to_tensorboard",
                                         "no_load_optim",
                                         "no_load_rng",
                                         "no_save_optim",
                                         "mock_data",
                                         "dataloader_type",
                                         "reset_position_ids",
                                         "ckpt_format",
                                         "use_dist_ckpt",
                                         "moe_router_topk",
                                         "moe_grouped_gemm",
                                         "moe_token_dispatcher_type",
                                         "moe_router_load_balancing_type",
                                         "moe_aux_loss_coeff"};

/// A degree that multiplies the GPUs of a replica, and its short name in messages.
struct MegatronDegree {
  const char *path, *what;
};
/// Degrees whose product is the number of GPUs of a replica.
constexpr MegatronDegree kDegrees[] = {{"tensor_model_parallel_size", "TP"},
                                       {"pipeline_model_parallel_size", "PP"},
                                       {"context_parallel_size", "CP"}};

/// Returns the GPUs of one replica of the network. Expert parallelism does not multiply them: experts lie in
/// the data-parallel group.
std::int64_t read_degrees_of_replica(SettingsReading& reading) {
  std::int64_t all = 1;
  for (const MegatronDegree& degree : kDegrees) {
    const auto value = reading.integer({degree.path}, 1, 100'000);
    if (!value) continue;
    reading.fate(KeyFate::usual);
    all = std::min<std::int64_t>(all * *value, 1'000'000);
  }
  if (reading.integer({"expert_model_parallel_size"}, 1, 100'000)) reading.fate(KeyFate::usual);
  return all;
}

/// Returns whether [parallel] predicts the run: the network is cut over GPUs, or it is a decoder whose layers
/// the arguments describe. BERT and T5 have lengths and heads of their own.
bool is_layout(SettingsReading& reading, std::int64_t replica) {
  const auto says = [&](std::string_view name) { return reading.has(name); };
  const bool is_decoder = says("num_layers") && says("hidden_size") && says("num_attention_heads") &&
                          !says("encoder_seq_length") && !says("decoder_seq_length") &&
                          !says("bert_no_binary_head");
  return replica > 1 || is_decoder ||
         reading.integer({"expert_model_parallel_size"}, 1, 100'000).value_or(1) > 1;
}

/// Reports degrees that the job's GPUs cannot hold. Returns whether it did.
bool refuse_degrees(SettingsReading& reading, std::int64_t replica) {
  const int gpus = reading.context().gpus;
  if (gpus == 0 || (gpus >= replica && gpus % replica == 0)) return false;
  // The message names the degrees that are above 1, as in "TP 8 x PP 4".
  std::string degrees;
  const char* last = kDegrees[0].path;
  for (const MegatronDegree& degree : kDegrees) {
    const auto value = reading.integer({degree.path}, 1, 100'000);
    if (!value || *value == 1) continue;
    degrees += fmt::format("{}{} {}", degrees.empty() ? "" : " x ", degree.what, *value);
    last = degree.path;
  }
  reading.mistake_at(last,
                     gpus < replica
                         ? fmt::format("{} needs {} GPUs, the job has {}", degrees, replica, gpus)
                         : fmt::format("{} is {} GPUs for each replica of the network, which do not divide "
                                       "the job's {}",
                                       degrees, replica, gpus),
                     "smaller degrees, or another number of nodes");
  return true;
}

/// Reads the batch of a network that is not cut: each GPU is a replica. The micro-steps follow once the
/// number of GPUs is known.
void read_megatron_batch(SettingsReading& reading) {
  const auto micro = reading.integer({"micro_batch_size", "batch_size"}, 1, 1'000'000);
  if (micro) reading.effect({{"model.batch_per_gpu", std::to_string(*micro)}});
  const auto all = reading.integer({"global_batch_size"}, 1, 100'000'000);
  if (!all) return;
  const int gpus = reading.context().gpus;
  if (!micro) return reading.effect({{"model.global_batch", std::to_string(*all)}});
  if (gpus == 0)
    return reading.fate(KeyFate::open, "says the micro-steps once the number of GPUs is known (--gpus N)");
  // Samples of one micro-step on all replicas.
  const std::int64_t of_one = *micro * gpus;
  if (*all % of_one != 0 || *all / of_one > 4096)
    return reading.mistake(
        fmt::format("global_batch_size = {} is no multiple of {} samples x {} data-parallel replicas", *all,
                    *micro, gpus),
        fmt::format("{} GPUs, one for each replica of the network", gpus));
  reading.effect({{"strategy.accumulation", std::to_string(*all / of_one)}},
                 fmt::format("{} samples of {} on each of {} replicas", *all, *micro, gpus));
}

/// Reads Megatron-FSDP, which shards what another option names, and nothing without it
/// (megatron/training/arguments.py).
void read_megatron_fsdp(SettingsReading& reading) {
  static constexpr std::pair<std::string_view, std::string_view> kStages[] = {
      {"no_shard", "zero0"}, {"optim", "zero1"}, {"optim_grads", "zero2"}, {"optim_grads_params", "zero3"}};
  const std::string sharding = reading.word({"data_parallel_sharding_strategy"}).value_or("no_shard");
  const auto* const row = std::ranges::find(kStages, std::string_view(sharding),
                                            &std::pair<std::string_view, std::string_view>::first);
  if (row == std::end(kStages))
    return reading.mistake(fmt::format("data_parallel_sharding_strategy = {} is not known", sharding),
                           "no_shard, optim, optim_grads or optim_grads_params");
  const std::string name = fmt::format("\"{}\"", row->second);
  reading.effect_of("use_megatron_fsdp", {{"strategy.name", name}}, "predicted as DeepSpeed's stage");
  reading.effect_of("data_parallel_sharding_strategy", {{"strategy.name", name}},
                    "predicted as DeepSpeed's stage");
}

/// Reads the strategy of data parallelism by the options of the optimizer and the exchange of gradients.
void read_megatron_strategy(SettingsReading& reading) {
  if (reading.flag({"use_megatron_fsdp"}).value_or(false)) return read_megatron_fsdp(reading);
  if (reading.flag({"use_torch_fsdp2"}).value_or(false))
    return reading.effect({{"strategy.name", "\"fsdp2\""}});
  const bool shards = reading.flag({"use_distributed_optimizer"}).value_or(false);
  const bool says_shards = reading.has("use_distributed_optimizer");
  // Without sharding, overlap is what DDP does.
  if (reading.flag({"overlap_grad_reduce"}).value_or(false) && !shards)
    return reading.effect({{"strategy.name", "\"ddp\""}},
                          "buckets are exchanged beside backward, as DDP does");
  // A sharded optimizer with overlap behaves as ZeRO 2, without it as ZeRO 1.
  if (says_shards && shards) {
    const bool overlaps = reading.flag({"overlap_grad_reduce"}).value_or(false);
    reading.effect_of("use_distributed_optimizer", {{"strategy.name", overlaps ? "\"zero2\"" : "\"zero1\""}},
                      "predicted as DeepSpeed's stage, which all-reduces where Megatron-LM reduce-scatters");
    return reading.effect_of("overlap_grad_reduce", {{"strategy.overlap_comm", "true"}});
  }
  reading.by_default("gradients are all-reduced after backward, as DeepSpeed's stage 0 does",
                     {{"strategy.name", "\"zero0\""}});
}

/// Reads the precision. In a layout it is that of the products.
void read_megatron_precision(SettingsReading& reading, bool half_weights) {
  for (const char* name : {"fp16", "bf16"}) {
    if (reading.flag({name}).value_or(false)) put_precision(reading, name, half_weights);
  }
}

/// Reads precision, optimizer, clipping, and every key that a layout does not have.
void read_megatron_rest(SettingsReading& reading, bool cut) {
  read_megatron_precision(reading, !cut);
  if (const auto name = reading.word({"optimizer"}))
    // Megatron-LM's adam decays weights as AdamW does.
    put_optimizer(reading, *name == "adam" ? "adamw" : *name);
  const auto norm = reading.number({"clip_grad"});
  if (norm)
    reading.effect({{"loop.clip_grad_norm", *norm > 0 ? "\"on_device\"" : "\"none\""}});
  else
    reading.by_default("clip_grad is 1.0 by default", {{"loop.clip_grad_norm", "\"on_device\""}});
  if (const auto decay = reading.number({"weight_decay"}))
    reading.effect({{"model.weight_decay", toml_flag(*decay != 0)}});
  reading.apply(kMegatronRules);
  for (const char* idle : kMegatronIdle) {
    const KeyRule rule{idle, KeyReads::nothing};
    reading.apply({&rule, 1});
  }
}

}  // namespace

/// A degree or another typical name, and a batch or a degree, make the arguments Megatron-LM's.
bool is_megatron(const YamlNode& tree) {
  constexpr std::array<std::string_view, 5> kMarks{
      "tensor_model_parallel_size", "pipeline_model_parallel_size", "use_distributed_optimizer",
      "use_mcore_models", "num_attention_heads"};
  const bool has_mark =
      std::ranges::any_of(kMarks, [&](std::string_view mark) { return !tree.at(mark).is_null(); });
  return has_mark && (!tree.at("micro_batch_size").is_null() || !tree.at("global_batch_size").is_null() ||
                      !tree.at("tensor_model_parallel_size").is_null());
}

/// Degrees that do not fit the GPUs end the reading: everything else depends on them.
void read_megatron(SettingsReading& reading) {
  const std::int64_t replica = read_degrees_of_replica(reading);
  const bool cut = is_layout(reading, replica);
  read_megatron_network(reading, {});
  if (refuse_degrees(reading, replica)) return;
  if (cut) {
    read_megatron_layout(reading, {});
  } else {
    read_megatron_batch(reading);
    read_megatron_strategy(reading);
  }
  read_megatron_rest(reading, cut);
}

/// A dialect is always a layout: its tools start Megatron-LM's layers only for that.
void read_megatron_dialect(SettingsReading& reading, const MegatronDialect& dialect) {
  const std::int64_t replica = read_degrees_of_replica(reading);
  read_megatron_network(reading, dialect);
  if (refuse_degrees(reading, replica)) return;
  read_megatron_layout(reading, dialect);
  read_megatron_rest(reading, true);
}

}  // namespace foretrain
