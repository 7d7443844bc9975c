// Reads the calls in a training program that set it up: Lightning's Trainer, DistributedDataParallel, FSDP,
// TrainingArguments, Accelerator, DataLoader, PEFT's classes. The program is read, never run.
//
//   model = DDP(net, bucket_cap_mb=50)
//
// The tree has an entry for each call with its keyword arguments (read_python_calls). A value that only the
// run knows stays open, and a note names the key of the scenario that gives it.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/ascii.hpp"
#include "sim/import/settings/fine_tuning_keys.hpp"
#include "sim/import/settings/fsdp_keys.hpp"
#include "sim/import/settings/huggingface_keys.hpp"
#include "sim/import/settings/lightning_keys.hpp"
#include "sim/import/settings/offload_keys.hpp"
#include "sim/import/settings/readers.hpp"
#include "sim/import/settings/trees.hpp"
#include "sim/scenario/catalog.hpp"

namespace foretrain {

namespace {

/// Returns whether Trainer(...) is Lightning's: it has arguments that Hugging Face's Trainer does not take.
bool is_lightning_trainer(SettingsReading& reading) {
  return std::ranges::any_of(
      std::initializer_list<const char*>{"devices", "gpus", "strategy", "max_epochs", "accelerator",
                                         "precision", "strategy.class_path", "num_nodes"},
      [&](const char* name) { return reading.has(fmt::format("Trainer.{}", name)); });
}

/// Reads a call of DistributedDataParallel, by whichever name.
void read_ddp_call(SettingsReading& reading, const std::string& name) {
  const std::string above = name + ".";
  struct Row {
    const char* name;
    KeyReads reads;
    const char *to, *note;
  };
  // Arguments by name; the paths are made below.
  static constexpr Row kRows[] = {
      {"bucket_cap_mb", KeyReads::mebibytes, "strategy.bucket_cap", ""},
      {"find_unused_parameters", KeyReads::flag, "strategy.find_unused_parameters", ""},
      {"static_graph", KeyReads::flag, "strategy.static_graph", ""},
      {"gradient_as_bucket_view", KeyReads::flag, "strategy.gradient_as_bucket_view", ""},
      {"broadcast_buffers", KeyReads::flag, "strategy.broadcast_buffers", ""},
      {"mixed_precision.*", KeyReads::unmodelled, "", "DDP's own precisions"},
      {"process_group", KeyReads::unmodelled, "", "a group of its own"},
      {"device_ids", KeyReads::usual, "", ""},
      {"output_device", KeyReads::usual, "", ""}};
  std::vector<std::string> paths;
  for (const Row& row : kRows) paths.push_back(above + row.name);
  std::vector<KeyRule> own;
  for (std::size_t i = 0; i < paths.size(); ++i)
    own.push_back({paths[i], kRows[i].reads, kRows[i].to, kRows[i].note});
  reading.apply(own);
}

/// Reads a call of FSDP, or fully_shard of FSDP2.
void read_fsdp_call(SettingsReading& reading, const std::string& name) {
  const std::string above = name + ".";
  if (const auto word = reading.word({above + "sharding_strategy"})) put_sharding(reading, *word);
  if (const auto word = reading.word({above + "backward_prefetch"})) put_backward_prefetch(reading, *word);
  if (const auto drops = reading.flag({above + "reshard_after_forward"}))
    reading.effect({{"strategy.sharding", *drops ? "\"full_shard\"" : "\"shard_grad_op\""}});
  // Policies of FSDP1 and FSDP2.
  for (const char* policy : {"mixed_precision", "mp_policy"})
    read_fsdp_policy_argument(reading, above + policy);
  if (const auto least =
          reading.integer({above + "auto_wrap_policy.init_args.min_num_params"}, 1, 1'000'000'000'000))
    reading.effect({{"strategy.unit_parameters", std::to_string(*least)}});
  read_fsdp_offload(reading, above + "cpu_offload");
  read_fsdp_offload(reading, above + "offload_policy");
  const std::string paths[] = {above + "forward_prefetch", above + "limit_all_gathers",
                               above + "auto_wrap_policy.*", above + "device_mesh.*",
                               above + "ignored_modules.*"};
  const KeyRule rules[] = {{paths[0], KeyReads::flag, "strategy.forward_prefetch"},
                           {paths[1], KeyReads::flag, "strategy.limit_all_gathers"},
                           {paths[2], KeyReads::usual, {}, "one unit for each block"},
                           {paths[3], KeyReads::unmodelled, {}, "groups of ranks"},
                           {paths[4], KeyReads::unmodelled, {}, "some modules are not sharded"}};
  reading.apply(rules);
  for (const char* idle : {"use_orig_params", "device_id", "sync_module_states", "param_init_fn", "mesh"})
    reading.fate_of(above + idle, KeyFate::usual);
}

/// Reads a policy that reaches the call of FSDP in a way that is not followed, such as
/// `mixed_precision=choose(a, b)`. A policy that stands in the call itself wins.
void read_policy_call(SettingsReading& reading, const std::string& name) {
  const auto says = [&](std::string_view path) {
    const YamlNode* given = reading.find({path});
    if (given == nullptr || given->kind != SettingKind::map) return false;
    const YamlNode& type = given->at("class_path");
    return type.is_null() || type.text == "MixedPrecision" || type.text == "MixedPrecisionPolicy";
  };
  if (!says("FSDP.mixed_precision") && !says("FullyShardedDataParallel.mixed_precision") &&
      !says("fully_shard.mp_policy"))
    return read_fsdp_policy(reading, name + ".", UnexpectedType::open);
  const std::string all = name + ".*";
  const KeyRule rules[] = {{all, KeyReads::usual, {}, "see FSDP's call"}};
  reading.apply(rules);
}

/// Reads torch.utils.data.DataLoader, whose batch and workers are those of a process. Under DataParallel one
/// process has all GPUs.
void read_loader_call(SettingsReading& reading, bool drives_all_gpus) {
  if (const auto batch = reading.integer({"DataLoader.batch_size"}, 1, 1'000'000))
    reading.effect({{drives_all_gpus ? "model.global_batch" : "model.batch_per_gpu", std::to_string(*batch)}},
                   drives_all_gpus ? "of all GPUs" : "of a process");
  if (const auto workers = reading.integer({"DataLoader.num_workers"}, 0, 256)) {
    std::vector<SettingEffect> effects{{"data.workers_per_gpu", std::to_string(*workers)}};
    if (drives_all_gpus) effects.push_back({"data.per_process", "true"});
    reading.effect(std::move(effects), "of a process");
  }
  static constexpr KeyRule kRules[] = {
      {"DataLoader.pin_memory", KeyReads::flag, "data.pinned"},
      {"DataLoader.persistent_workers", KeyReads::flag, "data.persistent_workers"},
      {"DataLoader.prefetch_factor", KeyReads::integer, "data.prefetch"},
      {"DataLoader.drop_last", KeyReads::flag, "data.drop_last"},
      {"DataLoader.*", KeyReads::nothing}};
  reading.apply(kRules);
}

/// Reads a call of accelerate's Accelerator.
void read_accelerator_call(SettingsReading& reading, const std::string& name) {
  const std::string above = name + ".";
  if (const auto steps = reading.integer({above + "gradient_accumulation_steps"}, 1, 4096))
    reading.effect({{"strategy.accumulation", std::to_string(*steps)}});
  if (const auto word = reading.word({above + "mixed_precision"})) {
    if (*word == "no")
      reading.fate(KeyFate::usual);
    else if (!put_precision(reading, *word, false))
      reading.fate(KeyFate::open, "--precision says it");
  }
}

/// Returns whether a network is made for the images of small data sets.
bool is_of_small_images(std::string_view model) {
  return model.find("cifar") != model.npos || model.find("mnist") != model.npos;
}

/// Reads the network by the name that its library has for it. Several networks in one program leave it open,
/// as does a network of larger images on a small data set.
void read_network(SettingsReading& reading) {
  const YamlNode* asked = reading.find({kNetworkOfProgram});
  if (asked == nullptr) return;
  std::vector<std::string> names;
  for (const YamlNode& item : asked->items) {
    std::string name = item.text == kNotKnown ? "" : model_named(item.text);
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  const YamlNode* data = reading.find({"data_set"});
  // Networks of the catalog are those for large images, so a small data set needs a resize.
  const bool has_small_images = data != nullptr && data->text != "imagenet";
  const auto open = [&](const std::string& why) { reading.fate_of(kNetworkOfProgram, KeyFate::open, why); };
  if (names.empty()) return open("which network it is; --model NAME says it");
  if (names.size() > 1)
    return open(fmt::format("the program makes {}; --model NAME says which one it trains",
                            fmt::join(names, " and ")));
  if (has_small_images && !is_of_small_images(names[0]) && !reading.has("resize"))
    return open(fmt::format(
        "{} of the catalog has larger images than {}; foretrain capture records the network as it is",
        names[0], data->text));
  reading.effect_of(kNetworkOfProgram, {{"model.name", toml_text(names[0])}});
}

/// Reads the tokens of a sample, where texts are filled up to a length or cut there.
void read_tokenizer(SettingsReading& reading) {
  if (const auto length = reading.integer({"tokenizer.max_length"}, 1, 1'000'000);
      length && reading.has(kNetworkOfProgram))
    reading.effect_of("tokenizer.max_length", {{"model.sequence_length", std::to_string(*length)}});
  static constexpr KeyRule kOthers[] = {{"tokenizer.*", KeyReads::nothing}};
  reading.apply(kOthers);
}

/// Reads the name of the data set, and notes a resize of its images.
void read_data_set(SettingsReading& reading) {
  const YamlNode* data = reading.find({"data_set"});
  if (data != nullptr) reading.effect({{"data.set", toml_text(data->text)}});
  static constexpr KeyRule kResize[] = {{"resize", KeyReads::usual}, {"resize.*", KeyReads::usual}};
  reading.apply(kResize);
}

}  // namespace

/// Any known call, or a network, makes a text a program of this kind.
bool is_python_program(const YamlNode& tree) {
  return std::ranges::any_of(tree.entries, [](const auto& entry) {
    return entry.first == kNetworkOfProgram ||
           std::ranges::find(python_call_names(), std::string_view(entry.first)) != python_call_names().end();
  });
}

/// The names under which programs import the classes; "YOLO" and "RTDETR" are Ultralytics' networks.
const std::vector<std::string_view>& python_call_names() {
  // Lightning, PyTorch's wrappers, Hugging Face, the loader, PEFT, and Ultralytics, in this order.
  static const std::vector<std::string_view> kNames{"Trainer",
                                                    "Fabric",
                                                    "LightningTrainer",
                                                    "DistributedDataParallel",
                                                    "DDP",
                                                    "FSDP",
                                                    "FullyShardedDataParallel",
                                                    "fully_shard",
                                                    "MixedPrecision",
                                                    "MixedPrecisionPolicy",
                                                    "TrainingArguments",
                                                    "Seq2SeqTrainingArguments",
                                                    "SFTConfig",
                                                    "Accelerator",
                                                    "DataParallel",
                                                    "DataLoader",
                                                    "LoraConfig",
                                                    "get_peft_model",
                                                    "PromptTuningConfig",
                                                    "PromptEncoderConfig",
                                                    "PrefixTuningConfig",
                                                    "prepare_model_for_kbit_training",
                                                    "BitsAndBytesConfig",
                                                    "from_pretrained",
                                                    "YOLO",
                                                    "RTDETR"};
  return kNames;
}

/// train() alone is a name of many programs, so it counts only beside YOLO(…).
const std::vector<std::string_view>& ultralytics_call_names() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names = python_call_names();
    names.emplace_back("train");
    return names;
  }();
  return kNames;
}

/// The order matters where one call depends on another: the strategy before the loader and the precision, the
/// loaded weights before adapters.
void read_python_program(SettingsReading& reading) {
  read_network(reading);
  read_tokenizer(reading);
  // A call counts when the tree has an entry of its name.
  read_data_set(reading);
  const auto called = [&](const std::string& name) { return reading.has(name); };
  // Data parallelism in one process each, then in one process for all GPUs.
  for (const char* name : {"DistributedDataParallel", "DDP"}) {
    if (!called(name)) continue;
    reading.by_default("DistributedDataParallel", {{"strategy.name", "\"ddp\""}});
    read_ddp_call(reading, name);
  }
  const bool wraps = called("DistributedDataParallel") || called("DDP");
  if (called("DataParallel")) {
    if (!wraps) reading.by_default("nn.DataParallel", {{"strategy.name", "\"data_parallel\""}});
    static constexpr KeyRule kDevices[] = {{"DataParallel.*", KeyReads::usual, {}, "which GPUs"}};
    reading.apply(kDevices);
  }
  if (called("DataLoader")) read_loader_call(reading, called("DataParallel") && !wraps);
  // Policies come before the call of FSDP, which may hold the same policy.
  for (const char* name : {"MixedPrecision", "MixedPrecisionPolicy"}) {
    if (called(name)) read_policy_call(reading, name);
  }
  for (const char* name : {"FSDP", "FullyShardedDataParallel", "fully_shard"}) {
    if (!called(name)) continue;
    const bool second = std::string_view(name) == "fully_shard";
    reading.by_default(second ? "fully_shard" : "FullyShardedDataParallel",
                       {{"strategy.name", second ? "\"fsdp2\"" : "\"fsdp\""}});
    read_fsdp_call(reading, name);
  }
  // Hugging Face: arguments of the Trainer, then the loading of the network and adapters.
  for (const char* name : {"TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig"}) {
    if (called(name)) read_training_arguments(reading, fmt::format("{}.", name));
  }
  for (const char* name : {"from_pretrained", "BitsAndBytesConfig", "LoraConfig", "PromptTuningConfig",
                           "PromptEncoderConfig", "PrefixTuningConfig", "get_peft_model"}) {
    if (called(name)) read_fine_tuning(reading, fmt::format("{}.", name));
  }
  keep_frozen_weights_narrow(reading);
  if (called("get_peft_model")) read_memory_switches(reading, "get_peft_model.");
  read_kbit_preparation(reading);
  static constexpr KeyRule kLoaded[] = {{"from_pretrained.*", KeyReads::nothing},
                                        {"BitsAndBytesConfig.*", KeyReads::nothing},
                                        {"LoraConfig.*", KeyReads::nothing},
                                        {"PromptTuningConfig.*", KeyReads::nothing},
                                        {"PromptEncoderConfig.*", KeyReads::nothing},
                                        {"PrefixTuningConfig.*", KeyReads::nothing},
                                        {"prepare_model_for_kbit_training.*", KeyReads::nothing},
                                        {"get_peft_model.*", KeyReads::nothing}};
  reading.apply(kLoaded);
  if ((called("YOLO.model") || called("RTDETR.model")) && called("train")) read_ultralytics_calls(reading);
  if (called("Accelerator")) read_accelerator_call(reading, "Accelerator");
  // A Trainer without Lightning's arguments is Hugging Face's.
  for (const char* name : {"Trainer", "Fabric", "LightningTrainer"}) {
    if (!called(name)) continue;
    static constexpr KeyRule kOthers[] = {{"Trainer.*", KeyReads::nothing, {}, "network and data"}};
    if (std::string_view(name) != "Trainer" || is_lightning_trainer(reading))
      read_trainer_keys(reading, fmt::format("{}.", name));
    else
      reading.apply(kOthers);
  }
}

}  // namespace foretrain
