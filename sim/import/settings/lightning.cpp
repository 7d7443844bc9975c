// Reads the arguments of PyTorch Lightning's Trainer, 2.x and those of 1.x that are still in use.
// LightningCLI writes them below `trainer:`, a program has them in a call:
//
//   trainer: {devices: 4, num_nodes: 2, strategy: ddp, precision: bf16-mixed}
//
// Strategies come by name or as a class. Callbacks, loggers and limits of validation have no influence.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/settings/fsdp_keys.hpp"
#include "sim/import/settings/lightning_keys.hpp"
#include "sim/import/settings/offload_keys.hpp"
#include "sim/import/settings/readers.hpp"
#include "sim/import/settings/trees.hpp"

namespace foretrain {

namespace {

/// Buckets of DeepSpeed that Lightning sets itself: lightning/pytorch/strategies/deepspeed.py.
constexpr const char* kLightningBucket = "200000000";

/// A strategy as Lightning names it, and its name here.
struct StrategyWord {
  std::string_view word, name;
  // State in host memory: parameters, optimizer, or both.
  std::string_view offload = {};
  bool find_unused = false;
};

/// Names and classes of strategies, in lower case without the modules before them.
constexpr StrategyWord kStrategyWords[] = {{"ddp", "ddp"},
                                           {"ddp_spawn", "ddp"},
                                           {"ddp_fork", "ddp"},
                                           {"ddp_notebook", "ddp"},
                                           {"ddp_find_unused_parameters_false", "ddp"},
                                           {"ddp_find_unused_parameters_true", "ddp", {}, true},
                                           {"dp", "data_parallel"},
                                           {"horovod", "horovod"},
                                           {"single_device", "single"},
                                           {"fsdp", "fsdp"},
                                           {"fsdp_native", "fsdp"},
                                           {"fsdp_cpu_offload", "fsdp", "params"},
                                           {"deepspeed", "zero2"},
                                           {"deepspeed_stage_1", "zero1"},
                                           {"deepspeed_stage_2", "zero2"},
                                           {"deepspeed_stage_2_offload", "zero2", "optimizer"},
                                           {"deepspeed_stage_3", "zero3"},
                                           {"deepspeed_stage_3_offload", "zero3", "optimizer and param"},
                                           {"ddpstrategy", "ddp"},
                                           {"ddpspawnstrategy", "ddp"},
                                           {"dataparallelstrategy", "data_parallel"},
                                           {"fsdpstrategy", "fsdp"},
                                           {"deepspeedstrategy", "zero2"},
                                           {"singledevicestrategy", "single"},
                                           {"horovodstrategy", "horovod"}};

/// Returns the last part of a dotted name in lower case.
std::string last_part(std::string_view name) {
  return lower_case(name.substr(name.rfind('.') == std::string_view::npos ? 0 : name.rfind('.') + 1));
}

/// Returns the row of a strategy by name or class; nullptr where it is not known.
const StrategyWord* strategy_word(std::string_view name) {
  const std::string wanted = last_part(name);
  const auto found = std::ranges::find(kStrategyWords, std::string_view(wanted), &StrategyWord::word);
  return found == std::end(kStrategyWords) ? nullptr : found;
}

/// Returns the options that a strategy's name implies.
std::vector<SettingEffect> effects_of(const StrategyWord& word) {
  std::vector<SettingEffect> effects{{"strategy.name", toml_text(word.name)}};
  if (word.name.starts_with("zero")) {
    effects.push_back({"strategy.overlap_comm", "true"});
    effects.push_back({"strategy.reduce_bucket_size", kLightningBucket});
    if (word.name != "zero3") effects.push_back({"strategy.allgather_bucket_size", kLightningBucket});
  }
  if (word.offload == "params") effects.push_back({"strategy.offload_params", "true"});
  if (word.offload.starts_with("optimizer")) effects.push_back({"strategy.offload_optimizer", "\"cpu\""});
  if (word.offload.ends_with("param")) effects.push_back({"strategy.offload_param", "\"cpu\""});
  if (word.find_unused) effects.push_back({"strategy.find_unused_parameters", "true"});
  return effects;
}

/// Rules for keys below a path that is only known at run time.
class RulesBelow {
 public:
  explicit RulesBelow(std::string above) : above_(std::move(above)) {}
  void add(std::string_view name, KeyReads reads, std::string_view to = {}, std::string_view note = {},
           std::string_view harmless = {}) {
    paths_.push_back(above_ + std::string(name));
    rules_.push_back({{}, reads, to, note, harmless});
  }
  /// Applies the rules. Paths are set here, because the vector of texts may have moved them before.
  void apply(SettingsReading& reading) {
    for (std::size_t i = 0; i < rules_.size(); ++i) rules_[i].path = paths_[i];
    reading.apply(rules_);
  }

 private:
  std::string above_;
  std::vector<std::string> paths_;
  std::vector<KeyRule> rules_;
};

/// Reads DDPStrategy's arguments, which are those of DistributedDataParallel, and its communication hook.
void read_ddp_arguments(SettingsReading& reading, const std::string& above) {
  RulesBelow rules(above);
  rules.add("find_unused_parameters", KeyReads::flag, "strategy.find_unused_parameters");
  rules.add("static_graph", KeyReads::flag, "strategy.static_graph");
  rules.add("gradient_as_bucket_view", KeyReads::flag, "strategy.gradient_as_bucket_view");
  rules.add("broadcast_buffers", KeyReads::flag, "strategy.broadcast_buffers");
  rules.add("bucket_cap_mb", KeyReads::mebibytes, "strategy.bucket_cap");
  rules.add("ddp_comm_state", KeyReads::nothing);
  rules.add("process_group_backend", KeyReads::unmodelled, {}, "strategy.backend says gloo", "nccl");
  rules.add("start_method", KeyReads::nothing);
  rules.add("timeout", KeyReads::nothing);
  const std::string hook = last_part(reading.word({above + "ddp_comm_hook"}).value_or(""));
  if (hook == "fp16_compress_hook" || hook == "bf16_compress_hook")
    reading.effect({{"strategy.compression", toml_text(hook.substr(0, 4))}});
  else if (hook == "powersgd_hook")
    reading.effect({{"strategy.compression", "\"powersgd\""}});
  else if (!hook.empty())
    reading.fate(KeyFate::not_modelled, "a hook that is not known");
  rules.apply(reading);
}

/// Reads FSDPStrategy's arguments.
void read_fsdp_arguments(SettingsReading& reading, const std::string& above) {
  if (const auto word = reading.word({above + "sharding_strategy"})) put_sharding(reading, *word);
  if (const auto word = reading.word({above + "backward_prefetch"})) put_backward_prefetch(reading, *word);
  // The value is the class of the blocks, or a set of such classes.
  for (const char* name : {"activation_checkpointing", "activation_checkpointing_policy"}) {
    const YamlNode* blocks = reading.find({above + name});
    const bool is_known = blocks != nullptr && !blocks->is_null() && blocks->text != kNotKnown &&
                          flag_in(blocks->text) != false;
    if (is_known) reading.effect({{"model.recompute", "true"}}, "forward passes run again in backward");
  }
  read_fsdp_offload(reading, above + "cpu_offload");
  for (const char* policy : {"mixed_precision", "mp_policy"})
    read_fsdp_policy_argument(reading, above + policy);
  RulesBelow rules(above);
  rules.add("forward_prefetch", KeyReads::flag, "strategy.forward_prefetch");
  rules.add("limit_all_gathers", KeyReads::flag, "strategy.limit_all_gathers");
  rules.add("activation_checkpointing_policy.*", KeyReads::unmodelled, {},
            "forward passes run again in backward");
  rules.add("activation_checkpointing.*", KeyReads::unmodelled, {}, "forward passes run again in backward");
  rules.add("auto_wrap_policy.*", KeyReads::usual, {}, "one unit for each block");
  rules.add("device_mesh.*", KeyReads::unmodelled, {}, "groups of ranks");
  rules.add("use_orig_params", KeyReads::usual);
  rules.add("state_dict_type", KeyReads::nothing);
  rules.add("sync_module_states", KeyReads::nothing);
  rules.apply(reading);
}

/// Reads DeepSpeedStrategy's arguments. The stage comes before the buckets, which not all stages have.
void read_deepspeed_arguments(SettingsReading& reading, const std::string& above) {
  if (const auto stage = reading.integer({above + "stage"}, 0, 3))
    reading.effect({{"strategy.name", fmt::format("\"zero{}\"", *stage)}});
  if (const auto on = reading.flag({above + "offload_optimizer"}))
    reading.effect({{"strategy.offload_optimizer", *on ? "\"cpu\"" : "\"none\""}});
  const YamlNode* file = reading.find({above + "config"});
  if (file != nullptr && file->kind == YamlNode::Kind::scalar) {
    const auto text = reading.context().find ? reading.context().find(file->text) : std::nullopt;
    SettingsContext context = reading.context();
    context.find = nullptr;
    if (text) {
      reading.fate(KeyFate::usual, "read as DeepSpeed");
      reading.include(read_settings(*text, context));
    } else {
      reading.fate(KeyFate::open, "the file is not read: it does not lie beside this one");
    }
  }
  RulesBelow rules(above);
  rules.add("overlap_comm", KeyReads::flag, "strategy.overlap_comm");
  rules.add("reduce_bucket_size", KeyReads::integer, "strategy.reduce_bucket_size");
  rules.add("allgather_bucket_size", KeyReads::integer, "strategy.allgather_bucket_size");
  if (const auto on = reading.flag({above + "offload_parameters"}))
    reading.effect({{"strategy.offload_param", *on ? "\"cpu\"" : "\"none\""}});
  rules.add("pin_memory", KeyReads::flag, "strategy.pin_memory");
  rules.add("remote_device", KeyReads::unmodelled, {}, "parameters in host memory or on NVMe", "cpu");
  rules.add("cpu_checkpointing", KeyReads::unmodelled, {}, "saved activations are copied to host memory");
  rules.add("partition_activations", KeyReads::unmodelled, {}, "saved activations are gathered");
  rules.add("contiguous_gradients", KeyReads::usual);
  rules.add("zero_optimization", KeyReads::usual);
  rules.apply(reading);
}

void read_strategy_class(SettingsReading& reading, const std::string& path, const StrategyWord& word) {
  const std::string above = path + ".init_args.";
  if (word.name == "ddp") read_ddp_arguments(reading, above);
  if (word.name == "fsdp") read_fsdp_arguments(reading, above);
  if (word.name.starts_with("zero")) read_deepspeed_arguments(reading, above);
}

/// Reads the strategy. Without one, the Trainer takes DDP on several GPUs.
void read_trainer_strategy(SettingsReading& reading, const std::string& above, bool is_old) {
  const std::string path = above + "strategy", type = path + ".class_path", old = above + "accelerator";
  const YamlNode* named = reading.find({type, path});
  if (named == nullptr && is_old) named = reading.find({old});  // 1.4: accelerator = "ddp"
  if (named == nullptr || named->kind != YamlNode::Kind::scalar || last_part(named->text) == "auto") {
    if (named != nullptr) reading.fate(KeyFate::usual, "ddp on several GPUs");
    return reading.by_default("the Trainer takes ddp on several GPUs", {{"strategy.name", "\"ddp\""}});
  }
  if (named->text == kNotKnown) return reading.fate(KeyFate::open, "--strategy NAME says it");
  const StrategyWord* word = strategy_word(named->text);
  if (word == nullptr)
    return reading.fate(KeyFate::not_modelled, "no strategy that is known; --strategy NAME says another");
  reading.effect(effects_of(*word));
  read_strategy_class(reading, path, *word);
}

/// Returns the number of devices in "4", 4, "0,1,3" or [0, 1]; nothing for -1 and auto, which are all GPUs of
/// a node.
std::optional<int> device_count(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::list) return static_cast<int>(node.items.size());
  const std::string& text = node.text;
  if (text.find(',') != std::string::npos) {
    const auto commas = std::count(text.begin(), text.end(), ',');
    return static_cast<int>(commas) + (text.back() == ',' ? 0 : 1);
  }
  const auto number = number_in(text);
  if (!number || *number < 1 || *number > 1024 || *number != static_cast<int>(*number)) return std::nullopt;
  return static_cast<int>(*number);
}

/// Reads devices and nodes; their product is the number of GPUs.
void read_devices(SettingsReading& reading, const std::string& above) {
  const auto nodes = reading.integer({above + "num_nodes"}, 1, 100'000);
  if (nodes) {
    reading.out().machines = static_cast<int>(*nodes);
    reading.fate(KeyFate::usual, "nodes of the job");
  }
  const YamlNode* devices = reading.find({above + "devices", above + "gpus"});
  if (devices == nullptr) return;
  const bool open_nodes = !nodes && reading.has(above + "num_nodes");
  reading.find({above + "devices", above + "gpus"});
  if (open_nodes) return reading.fate(KeyFate::open, "of each node, of which the number is not known");
  const bool all = devices->text == "auto" || devices->text == "-1";
  const auto count = device_count(*devices);
  if (all || !count)
    return reading.fate(all ? KeyFate::usual : KeyFate::open,
                        all ? "all GPUs of the node" : "--gpus N says it");
  const std::int64_t gpus = std::int64_t{*count} * nodes.value_or(1);
  reading.out().processes = static_cast<int>(std::min<std::int64_t>(gpus, 1'000'000));
  reading.effect({{"run.gpus", gpu_list(gpus)}},
                 nodes ? fmt::format("{} on each of {} nodes", *count, *nodes) : "");
}

/// Reads the precision; `sharded` strategies keep 16-bit weights.
void read_trainer_precision(SettingsReading& reading, const std::string& above, bool sharded) {
  const auto word = reading.word({above + "precision"});
  if (!word) return;
  if (*word == "64" || *word == "64-true") return reading.fate(KeyFate::not_modelled, "64-bit arithmetic");
  if (!put_precision(reading, *word, sharded))
    reading.mistake(fmt::format("\"{}\" is no precision of the Trainer", *word),
                    "32-true, 16-mixed, bf16-mixed, 16-true, bf16-true, 64-true or transformer-engine");
}

void add_trainer_rules(SettingsReading& reading, const std::string& above) {
  RulesBelow rules(above);
  rules.add("accumulate_grad_batches", KeyReads::integer, "strategy.accumulation");
  rules.add("sync_batchnorm", KeyReads::flag, "strategy.sync_batch_norm");
  rules.add("enable_progress_bar", KeyReads::flag, "loop.progress_bar");
  rules.add("detect_anomaly", KeyReads::unmodelled, {}, "every gradient is looked at");
  rules.add("profiler", KeyReads::unmodelled, {}, "a profiler slows the step");
  rules.add("benchmark", KeyReads::usual, {}, "cuDNN's fastest algorithms are assumed");
  rules.add("deterministic", KeyReads::unmodelled, {}, "deterministic kernels may be slower");
  rules.add("track_grad_norm", KeyReads::unmodelled, {}, "norms of gradients are read in every step", "-1");
  rules.add("overfit_batches", KeyReads::unmodelled, {}, "a part of the data set", "0.0");
  rules.add("limit_train_batches", KeyReads::unmodelled, {}, "a part of every epoch", "1.0");
  rules.add("fast_dev_run", KeyReads::unmodelled, {}, "one batch");
  rules.add("val_check_interval", KeyReads::nothing, {}, "[run.every.validation] says when it happens");
  rules.add("check_val_every_n_epoch", KeyReads::nothing, {}, "[run.every.validation] says when it happens");
  rules.add("barebones", KeyReads::usual);
  rules.add("plugins.*", KeyReads::unmodelled, {}, "what plug-ins do is not known");
  rules.add("amp_backend", KeyReads::unmodelled, {}, "Apex", "native");
  rules.add("auto_scale_batch_size", KeyReads::unmodelled, {}, "the batch is searched for");
  rules.add("max_steps", KeyReads::nothing, {}, "the length of the run");
  rules.add("use_distributed_sampler", KeyReads::usual);
  rules.add("replace_sampler_ddp", KeyReads::usual);
  for (const char* idle : {"logger.*",
                           "callbacks.*",
                           "min_epochs",
                           "min_steps",
                           "max_time",
                           "limit_val_batches",
                           "limit_test_batches",
                           "limit_predict_batches",
                           "num_sanity_val_steps",
                           "log_every_n_steps",
                           "enable_checkpointing",
                           "enable_model_summary",
                           "inference_mode",
                           "default_root_dir",
                           "reload_dataloaders_every_n_epochs",
                           "gradient_clip_algorithm",
                           "resume_from_checkpoint",
                           "weights_summary",
                           "progress_bar_refresh_rate",
                           "checkpoint_callback",
                           "accelerator",
                           "auto_select_gpus",
                           "auto_lr_find",
                           "num_processes",
                           "model_registry",
                           "weights_save_path",
                           "terminate_on_nan",
                           "move_metrics_to_cpu",
                           "prepare_data_per_node",
                           "multiple_trainloader_mode",
                           "enable_autolog_hparams"})
    rules.add(idle, KeyReads::nothing);
  rules.apply(reading);
}

/// Reads what LightningCLI has beside the Trainer: data, optimizer, model.
void read_cli_parts(SettingsReading& reading) {
  if (const auto batch = reading.integer(
          {"data.init_args.batch_size", "data.batch_size", "data.init_args.train_batch_size"}, 1, 1'000'000))
    reading.effect({{"model.batch_per_gpu", std::to_string(*batch)}}, "of a process");
  if (const auto workers = reading.integer({"data.init_args.num_workers", "data.num_workers"}, 0, 256))
    reading.effect({{"data.workers_per_gpu", std::to_string(*workers)}});
  if (const auto pinned = reading.flag({"data.init_args.pin_memory", "data.pin_memory"}))
    reading.effect({{"data.pinned", toml_flag(*pinned)}});
  if (const auto name = reading.word({"optimizer.class_path"})) {
    if (!put_optimizer(reading, *name)) reading.fate(KeyFate::not_modelled, "no optimizer that is known");
  }
  static constexpr KeyRule kRest[] = {
      {"optimizer.init_args.fused", KeyReads::nothing},
      {"optimizer.*", KeyReads::nothing, {}, "numbers of the optimizer"},
      {"lr_scheduler.*", KeyReads::nothing},
      {"model.*", KeyReads::nothing, {}, "the network; --model NAME says which"},
      {"data.*", KeyReads::nothing, {}, "the data set"},
      {"seed_everything", KeyReads::nothing},
      {"ckpt_path", KeyReads::nothing}};
  reading.apply(kRest);
}

}  // namespace

/// The strategy comes before the precision, which depends on it.
void read_trainer_keys(SettingsReading& reading, const std::string& above) {
  const bool is_old = reading.has(above + "gpus") || reading.has(above + "replace_sampler_ddp") ||
                      reading.has(above + "progress_bar_refresh_rate") || reading.has(above + "amp_backend");
  read_devices(reading, above);
  read_trainer_strategy(reading, above, is_old);
  const std::string strategy = value_of(reading.out(), "strategy.name");
  const bool sharded = strategy.starts_with("\"fsdp") || strategy.starts_with("\"zero");
  read_trainer_precision(reading, above, sharded);
  reading.by_default("the loop is Lightning's", {{"loop.hooks", "\"lightning\""}});
  if (strategy == "\"ddp\"")
    reading.by_default(is_old ? "arguments of Lightning 1.x" : "Lightning 2.x",
                       {{"strategy.lightning", is_old ? "\"1.x\"" : "\"2.x\""}});
  if (const auto epochs = reading.number({above + "max_epochs"})) {
    if (*epochs >= 1)
      reading.effect({{"run.epochs", std::to_string(static_cast<std::int64_t>(std::min(*epochs, 1e6)))}});
    else
      reading.fate(KeyFate::usual, "without an end");
  }
  if (const auto norm = reading.number({above + "gradient_clip_val"}))
    reading.effect({{"loop.clip_grad_norm", *norm > 0 ? "\"on_device\"" : "\"none\""}});
  const std::string accelerator = reading.word({above + "accelerator"}).value_or("auto");
  if (accelerator == "cpu" || accelerator == "tpu" || accelerator == "hpu" || accelerator == "mps")
    reading.fate(KeyFate::not_modelled, "it does not train on GPUs");
  const bool says_bar =
      reading.has(above + "enable_progress_bar") || reading.flag({above + "barebones"}).value_or(false);
  if (!says_bar) reading.by_default("the Trainer shows a progress bar", {{"loop.progress_bar", "true"}});
  add_trainer_rules(reading, above);
}

/// Either a table `trainer`, or at least three of the Trainer's arguments; a single one may belong to any
/// tool.
bool is_lightning(const YamlNode& tree) {
  const YamlNode& trainer = tree.at("trainer");
  const bool dotted = std::ranges::any_of(tree.entries, [](const auto& entry) {
    return entry.first.starts_with("trainer.") || entry.first == "trainer";
  });
  if (trainer.kind == YamlNode::Kind::map || dotted) return true;
  const int marks = static_cast<int>(
      std::ranges::count_if(std::array{"devices", "num_nodes", "max_epochs", "accumulate_grad_batches",
                                       "strategy", "accelerator", "precision", "gradient_clip_val"},
                            [&](const char* mark) { return !tree.at(mark).is_null(); }));
  return marks >= 3;
}

void read_lightning(SettingsReading& reading) {
  // A file with none of these at the top has them below `trainer`.
  const bool below = !reading.has("devices") && !reading.has("max_epochs") && !reading.has("strategy") &&
                     !reading.has("strategy.class_path");
  read_trainer_keys(reading, below ? "trainer." : "");
  read_cli_parts(reading);
}

}  // namespace foretrain
