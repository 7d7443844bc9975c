// Declares the readers of training settings. A format is recognised by the keys of a file, never by its name.
//
// A function is_… looks at a tree of keys and never throws. A function read_… requires that is_… holds. It
// tells the SettingsReading what each key comes to: an effect on keys of the scenario, or why it has none.
// Mistakes are collected in its diagnostics.
#pragma once

#include <string_view>
#include <vector>

#include "sim/import/settings/reading.hpp"

namespace foretrain {

/// DeepSpeed's JSON (deepspeed.cpp).
bool is_deepspeed(const YamlNode& tree);
void read_deepspeed(SettingsReading& reading);
/// Reads total, samples of a GPU and micro-steps (deepspeed_batch.cpp).
void read_deepspeed_batch(SettingsReading& reading);

/// accelerate's YAML (accelerate.cpp).
bool is_accelerate(const YamlNode& tree);
void read_accelerate(SettingsReading& reading);

/// Arguments of Lightning's Trainer (lightning.cpp).
bool is_lightning(const YamlNode& tree);
void read_lightning(SettingsReading& reading);

/// Hugging Face's TrainingArguments (huggingface.cpp).
bool is_huggingface(const YamlNode& tree);
void read_huggingface(SettingsReading& reading);

/// The table that Hugging Face calls fsdp_config (fsdp.cpp).
bool is_fsdp_config(const YamlNode& tree);
void read_fsdp_config(SettingsReading& reading);

/// Variables of the environment (environment.cpp).
bool is_environment(const YamlNode& tree);
void read_environment(SettingsReading& reading);

/// The file of `horovodrun --config-file` (environment.cpp).
bool is_horovodrun(const YamlNode& tree);
void read_horovodrun(SettingsReading& reading);

/// Note about adapters of a kind that is not modelled.
inline constexpr const char* kAdaptersAlone =
    "only adapters are trained: memory and exchanges are smaller than predicted here";

/// Recipes of torchtune, and of litgpt's config_hub (tuning_recipes.cpp).
bool is_torchtune(const YamlNode& tree);
void read_torchtune(SettingsReading& reading);
bool is_litgpt(const YamlNode& tree);
void read_litgpt_settings(SettingsReading& reading);

/// Ultralytics' args.yaml, or the words of a yolo command (ultralytics.cpp).
bool is_ultralytics(const YamlNode& tree);
void read_ultralytics(SettingsReading& reading);
/// Reads the calls YOLO("yolo11m.pt") or RTDETR(…), whose network is `model`, and train(…).
void read_ultralytics_calls(SettingsReading& reading);
/// Returns the words of a `yolo` command as a tree: key=value, with dashes in front or not.
YamlNode tree_of_yolo_words(const std::vector<ShellWord>& words);

/// axolotl's YAML (axolotl.cpp).
bool is_axolotl(const YamlNode& tree);
void read_axolotl(SettingsReading& reading);
/// Arguments of Megatron-LM, on a command line or in YAML (megatron.cpp).
bool is_megatron(const YamlNode& tree);
void read_megatron(SettingsReading& reading);
/// A tool that runs Megatron-LM's layers, or similar ones, under the same names. It applies after
/// SettingsReading::rename() has given the keys Megatron-LM's names.
struct MegatronDialect {
  /// Name of the tool for notes.
  const char* what = "Megatron-LM";
  /// Value of [parallel] framework; Megatron-LM's transformer_impl = local means another one.
  const char* framework = "megatron";
  /// num_query_groups counts only together with group_query_attention.
  bool groups_need_flag = true;
  /// The optimizer's state is sharded unless a key says no.
  bool shards_by_default = false;
};
/// Reads the keys of such a tool; all of them describe a layout.
void read_megatron_dialect(SettingsReading& reading, const MegatronDialect& dialect);
/// Reads its layout as [parallel], where a replica of the network takes several GPUs (megatron_layout.cpp).
void read_megatron_layout(SettingsReading& reading, const MegatronDialect& dialect);
/// Reads the network that its arguments describe, as the text of a model file.
void read_megatron_network(SettingsReading& reading, const MegatronDialect& dialect);

// Recipes of tools that start Megatron-LM's layers (megatron_recipes.cpp): AMD's Primus, NeMo,
// Megatron-Bridge, and GPT-NeoX.
bool is_primus(const YamlNode& tree);
void read_primus(SettingsReading& reading);
bool is_nemo(const YamlNode& tree);
void read_nemo(SettingsReading& reading);
bool is_megatron_bridge(const YamlNode& tree);
void read_megatron_bridge(SettingsReading& reading);
bool is_gpt_neox(const YamlNode& tree);
void read_gpt_neox(SettingsReading& reading);

// Recipes whose layout is sharding alone, or axes of a mesh (mesh_recipes.cpp): LLM-Foundry with OLMo, and
// MaxText.
bool is_llm_foundry(const YamlNode& tree);
void read_llm_foundry(SettingsReading& reading);
bool is_maxtext(const YamlNode& tree);
void read_maxtext(SettingsReading& reading);
/// Reads the network of keys that have Megatron-LM's names after rename(). `inner` is the width of the
/// feed-forward part; 0: as the keys give it.
void read_sized_network(SettingsReading& reading, std::int64_t inner);  // megatron_layout.cpp
/// Reads the same of a network whose feed-forward part is gated, as in Llama.
void read_gated_network(SettingsReading& reading);
/// Returns the network of the catalog whose name joins `family` and `size`, such as "llama3" and "8B"; empty:
/// there is none.
std::string catalog_model(std::string_view family, std::string_view size);

/// nanotron's YAML (nanotron.cpp).
bool is_nanotron(const YamlNode& tree);
void read_nanotron(SettingsReading& reading);

/// torchtitan's TOML (torchtitan.cpp).
bool is_torchtitan(const YamlNode& tree);
void read_torchtitan(SettingsReading& reading);

/// Calls in a training program (python_program.cpp).
bool is_python_program(const YamlNode& tree);
void read_python_program(SettingsReading& reading);
/// Returns the names of the calls that set up a training.
const std::vector<std::string_view>& python_call_names();
/// Returns the same and train(), which is such a call where a YOLO(…) stands beside it.
const std::vector<std::string_view>& ultralytics_call_names();

/// A format of settings: how it is recognised, and its reader.
struct SettingsFormat {
  /// Name in messages.
  std::string_view name;
  /// One line that describes the format for users.
  std::string_view what;
  bool (*recognises)(const YamlNode& tree) = nullptr;
  void (*read)(SettingsReading& reading) = nullptr;
};

/// Returns all formats, in the order in which they are tried.
const std::vector<SettingsFormat>& settings_formats();

/// Returns the settings that the first matching format reads. Throws InputError with all mistakes of the
/// file, or with the list of known formats when none matches.
TrainingSettings read_settings(const SourceText& source, const SettingsContext& context = {});

/// Returns the settings of the words behind a program's name; nothing when no format that has arguments
/// recognises them.
std::optional<TrainingSettings> read_settings_of_words(const SourceText& source,
                                                       const std::vector<ShellWord>& words,
                                                       const SettingsContext& context);

/// Returns whether a format recognises the file; false for a text that is no tree. Never throws InputError.
bool is_settings(const SourceText& source);
/// Returns the variables of the environment that are read as settings.
const std::vector<std::string_view>& library_variables();
/// Returns the settings of a tree that was made elsewhere. Throws InputError with all mistakes.
TrainingSettings read_settings_tree(const SourceText& source, const YamlNode& tree,
                                    const SettingsFormat& format, const SettingsContext& context);
/// Removes effects on options that the strategy does not have. Does nothing for an unknown strategy.
void keep_options_of(std::string_view strategy, TrainingSettings& settings);
/// Does the same for a strategy that the user chose beside the settings. Returns a note for each option that
/// is left out.
std::vector<Diagnostic> leave_out_options(std::string_view strategy, TrainingSettings& settings);

// Words that several tools share (words.cpp). Each put_… tells the effect of the key found last.

/// Tells a precision as tools name it ("bf16", "16-mixed", "float16", "no"). `half_weights`: the strategy
/// keeps 16-bit weights beside fp32 ones, as fully sharded ones and DeepSpeed do. Returns false for an
/// unknown word.
bool put_precision(SettingsReading& reading, std::string_view word, bool half_weights);
/// Tells an optimizer by its name or class ("AdamW", "torch.optim.SGD", "adamw_torch_fused", "FusedAdam").
/// Returns false for an unknown one.
bool put_optimizer(SettingsReading& reading, std::string_view name);
/// Tells FSDP's sharding strategy by its name or number; reports a word that is none.
void put_sharding(SettingsReading& reading, std::string_view word);
/// Tells FSDP's backward prefetch; reports a word that is none.
void put_backward_prefetch(SettingsReading& reading, std::string_view word);
/// Tells a degree that only parallelisms beyond data parallelism have: 1 changes nothing, more is not
/// modelled.
void put_parallelism(SettingsReading& reading, std::int64_t degree, std::string_view what);
/// Returns run.gpus for a job: one GPU and all of them.
std::string gpu_list(std::int64_t gpus);

}  // namespace foretrain
