// Reads accelerate's configuration file, default_config.yaml as `accelerate config` writes it:
//
//   distributed_type: FSDP
//   mixed_precision: bf16
//   num_machines: 2
//   num_processes: 16
//   fsdp_config: {fsdp_version: 2, fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP}
//
// Keys are those of accelerate/commands/config/config_args.py and utils/dataclasses.py of 1.x, and older
// spellings. Taken are the strategy with its options, precision, accumulation, processes and compilation.
// Addresses, rendezvous and TPU keys have no influence; degrees of other parallelisms and features that no
// model describes are told as such. Values of a wrong type and an unknown distributed_type are mistakes.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/import/settings/fsdp_keys.hpp"
#include "sim/import/settings/offload_keys.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// Keys that no function below reads. Order matters: the first row whose path fits decides.
constexpr KeyRule kAccelerateRules[] = {
    // Sections of strategies, whose main keys are read by functions.
    {"deepspeed_config.zero3_init_flag", KeyReads::nothing, {}, "before the first step"},
    {"deepspeed_config.deepspeed_moe_layer_cls_names", KeyReads::unmodelled, {}, "mixtures of experts"},
    {"deepspeed_config.*", KeyReads::nothing, {}, "of starting, checkpoints or paths"},
    {"megatron_lm_config.megatron_lm_recompute_activations",
     KeyReads::unmodelled,
     {},
     "forward passes run again in backward"},
    {"megatron_lm_config.megatron_lm_sequence_parallelism", KeyReads::unmodelled, {}, "sequence parallel"},
    {"megatron_lm_config.*", KeyReads::nothing},
    {"fp8_config.*", KeyReads::nothing, {}, "how numbers are scaled"},
    {"ipex_config.*", KeyReads::nothing},
    {"mpirun_config.*", KeyReads::nothing},
    {"dynamo_config.dynamo_mode", KeyReads::usual},
    {"dynamo_config.*", KeyReads::nothing},
    {"parallelism_config.parallelism_config_dp_shard_size", KeyReads::usual, {}, "all GPUs of a copy"},
    {"fsdp_config.*", KeyReads::nothing},
    // TPUs.
    {"downcast_bf16", KeyReads::nothing, {}, "of TPUs"},
    {"tpu_.*", KeyReads::nothing},
    {"tpu_env", KeyReads::nothing},
    {"tpu_use_cluster", KeyReads::nothing},
    {"tpu_use_sudo", KeyReads::nothing},
    {"tpu_name", KeyReads::nothing},
    {"tpu_zone", KeyReads::nothing},
    {"tpu_vm", KeyReads::nothing},
    // Start of the processes.
    {"enable_cpu_affinity", KeyReads::unmodelled, {}, "processes are bound to the cores near their GPU"},
    {"compute_environment", KeyReads::nothing},
    {"debug", KeyReads::unmodelled, {}, "shapes of every collective are compared"},
    {"gpu_ids", KeyReads::nothing, {}, "which GPUs, not how many"},
    {"machine_rank", KeyReads::nothing},
    {"main_process_ip", KeyReads::nothing},
    {"main_process_port", KeyReads::nothing},
    {"main_training_function", KeyReads::nothing},
    {"rdzv_backend", KeyReads::nothing},
    {"rdzv_conf.*", KeyReads::nothing},
    {"same_network", KeyReads::nothing},
    {"monitor_interval", KeyReads::nothing},
    {"max_restarts", KeyReads::nothing},
    {"command_file", KeyReads::nothing},
    {"commands", KeyReads::nothing},
    {"main_process_file", KeyReads::nothing}};

/// Reads how many copies of the shards there are. Copies of shards are FSDP's hybrid sharding.
void read_copies(SettingsReading& reading) {
  const auto copies =
      reading.integer({"parallelism_config.parallelism_config_dp_replicate_size"}, 1, 1'000'000);
  if (!copies) return;
  const bool shards =
      reading.integer({"parallelism_config.parallelism_config_dp_shard_size"}, 1, 1'000'000).value_or(1) > 1;
  reading.find({"parallelism_config.parallelism_config_dp_replicate_size"});
  if (*copies > 1 && shards)
    reading.effect({{"strategy.sharding", "\"hybrid_shard\""}},
                   "shards inside a node, whatever their number");
  else
    reading.fate(KeyFate::usual);
}

/// Reads the DeepSpeed configuration that the file names, otherwise the file's own keys. The named file is
/// read with what this one has: "auto" is resolved by its precision and number of processes.
void read_deepspeed_plugin(SettingsReading& reading, int gpus) {
  constexpr const char* kFile = "deepspeed_config.deepspeed_config_file";
  const YamlNode* file = reading.find({kFile});
  if (file != nullptr && file->text != "none") {
    // The file is looked for beside this one.
    const auto text = reading.context().find ? reading.context().find(file->text) : std::nullopt;
    if (!text) return reading.fate(KeyFate::open, "the file is not read: it does not lie beside this one");
    std::vector<ProgramArgument> told;
    if (reading.context().arguments != nullptr) told = *reading.context().arguments;
    const std::string mixed = reading.word({"mixed_precision"}).value_or("no");
    // Inside, no further file is opened, so two files cannot include each other.
    if (mixed != "no") told.push_back({mixed, "mixed_precision", "true", {}});
    SettingsContext context = reading.context();
    context.find = nullptr;
    if (!told.empty()) context.arguments = &told;
    if (context.gpus == 0) context.gpus = gpus;
    const TrainingSettings inner = read_settings(*text, context);
    reading.fate_of(kFile, KeyFate::usual, "read as " + inner.format);
    return reading.include(inner);
  }
  // Without a file, the keys of this section are DeepSpeed's settings.
  const auto stage = reading.integer({"deepspeed_config.zero_stage"}, 0, 3);
  const std::string name = fmt::format("\"zero{}\"", stage.value_or(2));
  if (stage)
    reading.effect({{"strategy.name", name}});
  else
    reading.by_default("accelerate's stage is 2 when none is named", {{"strategy.name", name}});
  read_deepspeed_offload(reading);
  if (const auto norm = reading.number({"deepspeed_config.gradient_clipping"}))
    reading.effect({{"loop.clip_grad_norm", *norm > 0 ? "\"on_device\"" : "\"none\""}});
}

/// Reads the number of micro-steps.
void read_accelerate_accumulation(SettingsReading& reading) {
  const auto steps = reading.integer(
      {"deepspeed_config.gradient_accumulation_steps", "gradient_accumulation_steps"}, 1, 4096);
  if (steps) reading.effect({{"strategy.accumulation", std::to_string(*steps)}});
}

/// Reads the degrees of tensor, pipeline, context and sequence parallelism in Megatron-LM's and accelerate's
/// own sections.
void read_degrees(SettingsReading& reading) {
  struct Degree {
    const char *path, *what;
  };
  for (const Degree& degree :
       {Degree{"megatron_lm_config.megatron_lm_tp_degree", "tensor parallel"},
        Degree{"megatron_lm_config.megatron_lm_pp_degree", "pipeline parallel"},
        Degree{"parallelism_config.parallelism_config_tp_size", "tensor parallel"},
        Degree{"parallelism_config.parallelism_config_cp_size", "context parallel"},
        Degree{"parallelism_config.parallelism_config_sp_size", "sequence parallel"}}) {
    if (const auto value = reading.integer({degree.path}, 1, 1'000'000))
      put_parallelism(reading, *value, degree.what);
  }
}

/// Reads accelerate's Megatron-LM plug-in, whose data parallelism resembles ZeRO 0 or 1.
void read_megatron_plugin(SettingsReading& reading) {
  const bool shards =
      reading.flag({"megatron_lm_config.megatron_lm_use_distributed_optimizer"}).value_or(true);
  std::vector<SettingEffect> effects{{"strategy.name", shards ? "\"zero1\"" : "\"zero0\""}};
  const char* note =
      "Megatron-LM's data parallel is predicted as DeepSpeed's: gradients travel after backward";
  if (reading.has("megatron_lm_config.megatron_lm_use_distributed_optimizer"))
    reading.effect(std::move(effects), note);
  else
    reading.by_default(note, std::move(effects));
  if (const auto norm = reading.number({"megatron_lm_config.megatron_lm_gradient_clipping"}))
    reading.effect({{"loop.clip_grad_norm", *norm > 0 ? "\"on_device\"" : "\"none\""}});
}

/// Reads MULTI_GPU, FSDP and so on, with the options of that strategy.
void read_distributed_type(SettingsReading& reading, int gpus) {
  std::string type = reading.word({"distributed_type"}).value_or("");
  if (type == "multi_gpu") return reading.effect({{"strategy.name", "\"ddp\""}});
  if (type == "no" || type.empty()) {
    if (reading.has("distributed_type")) reading.fate(KeyFate::usual, "one process");
    return;
  }
  // Each strategy's own section is read by a function of its own.
  if (type == "fsdp") {
    reading.fate(KeyFate::usual, "see fsdp_config");
    return read_fsdp_keys(reading, "fsdp_config.");
  }
  if (type == "deepspeed") {
    reading.fate(KeyFate::usual, "see deepspeed_config");
    return read_deepspeed_plugin(reading, gpus);
  }
  if (type == "megatron_lm") {
    reading.fate(KeyFate::usual, "see megatron_lm_config");
    return read_megatron_plugin(reading);
  }
  // Kinds of accelerate that train on no GPU, or by other means, are valid and not modelled.
  const bool known = type.starts_with("multi_") || type == "tpu" || type == "xla" || type == "tp";
  if (!known)
    return reading.mistake(fmt::format("\"{}\" is no distributed_type", type),
                           "NO, MULTI_GPU, FSDP, DEEPSPEED, MEGATRON_LM, XLA, MULTI_CPU, …");
  reading.fate(KeyFate::not_modelled, "no GPUs of a kind that is known here train so");
}

/// Reads the backend of torch.compile. Only Inductor and CUDA graphs are modelled.
void read_compilation(SettingsReading& reading) {
  const auto backend = reading.word({"dynamo_config.dynamo_backend", "dynamo_backend"});
  if (!backend) return;
  // The key is there and names a backend.
  if (*backend == "no") return reading.fate(KeyFate::usual, "not compiled");
  if (*backend == "inductor") return reading.effect({{"framework.execution", "\"compiled\""}});
  if (*backend == "cudagraphs") return reading.effect({{"framework.execution", "\"cuda_graphs\""}});
  if (*backend == "eager") return reading.fate(KeyFate::usual, "not compiled");
  reading.fate(KeyFate::not_modelled, "kernels of another compiler than Inductor");
}

/// Reads the number of processes over all machines; 0: not given. It must be a multiple of the machines.
int read_processes(SettingsReading& reading) {
  const auto machines = reading.integer({"num_machines"}, 1, 100'000);
  if (machines) {
    reading.fate(KeyFate::usual, "nodes of the job");
    if (*machines > 1) reading.effect({{"launch.nodes", std::to_string(*machines)}}, "nodes of the job");
    reading.out().machines = static_cast<int>(*machines);
  }
  const auto all = reading.integer({"num_processes"}, 1, 1'000'000);
  if (!all) return 0;
  reading.out().processes = static_cast<int>(*all);
  if (machines && *all % *machines != 0)
    reading.mistake(fmt::format("num_processes = {} is no multiple of num_machines = {}", *all, *machines),
                    "num_processes counts the processes of all machines");
  // The last look-up was that of num_processes, so the effect is told of it.
  reading.effect({{"run.gpus", gpu_list(*all)}}, "one process per GPU, over all machines");
  return static_cast<int>(*all);
}

/// Reads the precision. fp16 and bf16 are casts in DDP; FSDP and DeepSpeed keep 16-bit weights.
void read_mixed_precision(SettingsReading& reading) {
  const std::string type = reading.word({"distributed_type"}).value_or("");
  const auto word = reading.word({"mixed_precision"});
  if (word && *word != "no" &&
      !put_precision(reading, *word, type == "fsdp" || type == "deepspeed" || type == "megatron_lm"))
    reading.mistake(fmt::format("\"{}\" is no mixed_precision", *word), "no, fp16, bf16 or fp8");
  if (word == "no") reading.fate(KeyFate::usual, "the model's own precision");
  // Old versions had a key `fp16` of their own.
  if (reading.flag({"fp16"}).value_or(false)) put_precision(reading, "fp16", type == "deepspeed");
}

}  // namespace

/// A file of TrainingArguments may have an fsdp_config as well; its batch size tells the two apart.
bool is_accelerate(const YamlNode& tree) {
  constexpr std::array<std::string_view, 6> kMarks{
      "distributed_type", "compute_environment",    "fsdp_config",
      "deepspeed_config", "main_training_function", "dynamo_config"};
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return !tree.at(mark).is_null(); }) &&
         tree.at("per_device_train_batch_size").is_null();
}

/// The number of processes comes first: DeepSpeed's batch depends on it.
void read_accelerate(SettingsReading& reading) {
  const int gpus = read_processes(reading);
  read_distributed_type(reading, gpus);
  read_mixed_precision(reading);
  read_accelerate_accumulation(reading);
  read_degrees(reading);
  read_copies(reading);
  read_compilation(reading);
  if (reading.flag({"use_cpu"}).value_or(false))
    reading.fate(KeyFate::not_modelled, "the training runs on CPUs");
  else if (reading.has("use_cpu"))
    reading.fate(KeyFate::usual);
  reading.apply(kAccelerateRules);
}

}  // namespace foretrain
