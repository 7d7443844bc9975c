// The readers of training settings; a format is told by what a file holds, never by its name.
#pragma once

#include <string_view>
#include <vector>

#include "sim/import/settings/reading.hpp"

namespace foretrain {

bool is_deepspeed(const YamlNode& tree);
void read_deepspeed(SettingsReading& reading);
/// Total, samples of a GPU and micro-steps.
void read_deepspeed_batch(SettingsReading& reading);

bool is_accelerate(const YamlNode& tree);
void read_accelerate(SettingsReading& reading);

bool is_lightning(const YamlNode& tree);
void read_lightning(SettingsReading& reading);

bool is_huggingface(const YamlNode& tree);
void read_huggingface(SettingsReading& reading);

bool is_fsdp_config(const YamlNode& tree);
void read_fsdp_config(SettingsReading& reading);

bool is_environment(const YamlNode& tree);
void read_environment(SettingsReading& reading);

bool is_horovodrun(const YamlNode& tree);
void read_horovodrun(SettingsReading& reading);

/// What is told of adapters of a kind that is not modelled.
inline constexpr const char* kAdaptersAlone =
    "only adapters are trained: memory and exchanges are smaller than predicted here";

/// torchtune's recipes and litgpt's config_hub (tuning_recipes.cpp).
bool is_torchtune(const YamlNode& tree);
void read_torchtune(SettingsReading& reading);
bool is_litgpt(const YamlNode& tree);
void read_litgpt_settings(SettingsReading& reading);

bool is_ultralytics(const YamlNode& tree);
void read_ultralytics(SettingsReading& reading);
/// Of YOLO("yolo11m.pt") and RTDETR(…), whose network is `model`, and of train(…).
void read_ultralytics_calls(SettingsReading& reading);
/// Words of a `yolo` command: key=value, with dashes before them or not.
YamlNode tree_of_yolo_words(const std::vector<ShellWord>& words);

bool is_axolotl(const YamlNode& tree);
void read_axolotl(SettingsReading& reading);
bool is_megatron(const YamlNode& tree);
void read_megatron(SettingsReading& reading);
/// A tool that runs Megatron-LM's layers, or layers like them, under the same names: after
/// SettingsReading::rename.
struct MegatronDialect {
  const char* what = "Megatron-LM";
  const char* framework = "megatron";  ///< of [parallel]; Megatron-LM's transformer_impl = local says another
  bool groups_need_flag = true;        ///< num_query_groups counts with group_query_attention alone
  bool shards_by_default = false;      ///< the optimizer's state is shared out unless somebody says no
};
/// The keys of such a tool, all of them a layout.
void read_megatron_dialect(SettingsReading& reading, const MegatronDialect& dialect);
/// Its layout as [parallel], where a replica of the network takes several GPUs (megatron_layout.cpp).
void read_megatron_layout(SettingsReading& reading, const MegatronDialect& dialect);
/// The network that its arguments describe, as the text of a network's file.
void read_megatron_network(SettingsReading& reading, const MegatronDialect& dialect);

// Recipes of tools that start Megatron-LM's layers (megatron_recipes.cpp).
bool is_primus(const YamlNode& tree);
void read_primus(SettingsReading& reading);
bool is_nemo(const YamlNode& tree);
void read_nemo(SettingsReading& reading);
bool is_megatron_bridge(const YamlNode& tree);
void read_megatron_bridge(SettingsReading& reading);
bool is_gpt_neox(const YamlNode& tree);
void read_gpt_neox(SettingsReading& reading);

// Recipes whose layout is sharding alone, or axes of a mesh (mesh_recipes.cpp).
bool is_llm_foundry(const YamlNode& tree);
void read_llm_foundry(SettingsReading& reading);
bool is_maxtext(const YamlNode& tree);
void read_maxtext(SettingsReading& reading);
/// The same, of keys that have Megatron-LM's names after rename(); `inner` 0: as they say it.
void read_sized_network(SettingsReading& reading, std::int64_t inner);  // megatron_layout.cpp
/// The same of a network whose feed-forward part is gated, as Llama's.
void read_gated_network(SettingsReading& reading);
/// A network of the catalog whose name is that of `family` and `size`, as "llama3" and "8B"; empty: none.
std::string catalog_model(std::string_view family, std::string_view size);

bool is_nanotron(const YamlNode& tree);
void read_nanotron(SettingsReading& reading);

bool is_torchtitan(const YamlNode& tree);
void read_torchtitan(SettingsReading& reading);

bool is_python_program(const YamlNode& tree);
void read_python_program(SettingsReading& reading);
/// Calls that set up a training.
const std::vector<std::string_view>& python_call_names();
/// The same and train(), which is such a call beside a YOLO(…).
const std::vector<std::string_view>& ultralytics_call_names();

/// A format of settings files: how it is recognised and who reads it.
struct SettingsFormat {
  std::string_view name;
  std::string_view what;  ///< one line for people
  bool (*recognises)(const YamlNode& tree) = nullptr;
  void (*read)(SettingsReading& reading) = nullptr;
};

/// In the order of trying.
const std::vector<SettingsFormat>& settings_formats();

/// Of the first format that recognises it. Throws InputError with every mistake, or with the formats that are
/// known.
TrainingSettings read_settings(const SourceText& source, const SettingsContext& context = {});

/// The same of the words behind a program's name; none when no format that has arguments recognises them.
std::optional<TrainingSettings> read_settings_of_words(const SourceText& source,
                                                       const std::vector<ShellWord>& words,
                                                       const SettingsContext& context);

/// Whether a format recognises the file; a text that cannot be cut is none.
bool is_settings(const SourceText& source);
/// Variables of the environment that are read as settings.
const std::vector<std::string_view>& library_variables();
/// Settings of a tree that is made elsewhere.
TrainingSettings read_settings_tree(const SourceText& source, const YamlNode& tree,
                                    const SettingsFormat& format, const SettingsContext& context);
/// Leaves out effects on options that the strategy does not have.
void keep_options_of(std::string_view strategy, TrainingSettings& settings);
/// The same for a strategy that somebody chose besides the settings; each option that is left out is told.
std::vector<Diagnostic> leave_out_options(std::string_view strategy, TrainingSettings& settings);

// Words that several tools share.

/// Of a precision as tools call it ("bf16", "16-mixed", "float16", "no"), for a strategy: fully sharded ones
/// and DeepSpeed keep 16-bit weights beside fp32 ones. False: not known.
bool put_precision(SettingsReading& reading, std::string_view word, bool half_weights);
/// Of an optimizer's name or class ("AdamW", "torch.optim.SGD", "adamw_torch_fused", "FusedAdam"). False: not
/// known.
bool put_optimizer(SettingsReading& reading, std::string_view name);
/// Of FSDP's sharding strategy by name or number; reports what is none.
void put_sharding(SettingsReading& reading, std::string_view word);
void put_backward_prefetch(SettingsReading& reading, std::string_view word);
/// Of the key found last, a count that only parallelisms beyond data parallel have: 1 is as usual.
void put_parallelism(SettingsReading& reading, std::int64_t degree, std::string_view what);
/// GPUs of the job as run.gpus: alone and all.
std::string gpu_list(std::int64_t gpus);

}  // namespace foretrain
