// Reads switches that move or widen what a fine-tuning holds: activations in host memory, weights in fp32
// beside packed ones, and the recomputation that goes with them. They stand in files of LLaMA-Factory,
// axolotl, TRL, ms-swift and Unsloth, and in calls of PEFT.
#include <array>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/settings/fine_tuning_keys.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// Note for activations on a disk.
constexpr const char* kOnDisk = "activations move to a disk, which is not modelled";

/// Returns the effects of recomputed blocks whose inputs are kept in host memory.
std::vector<SettingEffect> offloaded_checkpoints() {
  return {{"model.recompute", "true"}, {"model.offload_activations", "\"checkpoints\""}};
}

/// Returns whether the weights have fewer than 32 bits, so that widening some of them matters.
bool has_narrow_weights(SettingsReading& reading) {
  const std::string weights = value_of(reading.out(), "model.weights");
  return !weights.empty() && weights != "\"fp32\"" && weights != "\"by_precision\"";
}

/// Reads axolotl's gradient_checkpointing, which is a flag or one of these words.
void read_checkpointing_word(SettingsReading& reading, const std::string& path) {
  const YamlNode* node = reading.find({path});
  if (node == nullptr || node->kind != SettingKind::scalar || flag_in(node->text)) return;
  const std::string word = lower_case(node->text);
  if (word == "offload" || word == "unsloth") return reading.effect(offloaded_checkpoints());
  if (word == "offload_disk") return reading.effect({{"model.recompute", "true"}}, kOnDisk);
}

/// Reads activation_offloading of TRL and axolotl, which is torchtune's OffloadActivations; axolotl's
/// "legacy" is the form of Unsloth.
void read_activation_offloading(SettingsReading& reading, const std::string& path) {
  const YamlNode* node = reading.find({path});
  if (node == nullptr || node->kind != SettingKind::scalar) return;
  const std::string word = lower_case(node->text);
  if (word == "legacy") return reading.effect(offloaded_checkpoints());
  if (word == "disk") return reading.fate(KeyFate::not_modelled, kOnDisk);
  if (const auto on = reading.flag({path}))
    reading.effect({{"model.offload_activations", *on ? "\"saved_tensors\"" : "\"none\""}});
}

/// Reads packing. Packed samples fill sequence_length. Others are as long as the longest one of their
/// micro-batch, which no file tells.
void read_packing(SettingsReading& reading, const std::string& above) {
  for (const char* name : {"packing", "neat_packing", "sample_packing"}) {
    const auto packs = reading.flag({above + name});
    if (!packs) continue;
    if (*packs)
      reading.fate(KeyFate::usual, "samples fill the length");
    else
      reading.fate(KeyFate::not_modelled,
                   "samples are no longer than the longest of a micro-batch: less time and memory");
  }
}

/// Reads LLaMA-Factory's recomputation, which is on unless it is switched off (hparams/model_args.py).
void read_factory_checkpointing(SettingsReading& reading, const std::string& above) {
  if (!reading.has(above + "finetuning_type")) return;
  const auto is_off = reading.flag({above + "disable_gradient_checkpointing"});
  if (is_off) return reading.effect({{"model.recompute", toml_flag(!*is_off)}});
  reading.by_default("LLaMA-Factory recomputes blocks", {{"model.recompute", "true"}});
}

/// Returns a number in a text such as "rank=64, update_proj_gap=100, scale=0.10"; nothing where it is not
/// there.
std::optional<double> number_of_argument(std::string_view arguments, std::string_view name) {
  while (!arguments.empty()) {
    const std::size_t comma = arguments.find(',');
    const std::string_view one = trimmed(arguments.substr(0, comma));
    const std::size_t equals = one.find('=');
    if (equals != std::string_view::npos && trimmed(one.substr(0, equals)) == name)
      return number_in(trimmed(one.substr(equals + 1)));
    arguments = comma == std::string_view::npos ? std::string_view() : arguments.substr(comma + 1);
  }
  return std::nullopt;
}

/// Adds an effect where the value is a whole number in the range of the scenario's keys.
void add_count(std::vector<SettingEffect>& effects, std::string_view key, std::optional<double> value) {
  constexpr double kMost = 1e6;
  if (value && *value >= 1 && *value <= kMost)
    effects.push_back({std::string(key), fmt::format("{:.0f}", *value)});
}

/// Reads LLaMA-Factory's use_galore and use_apollo with their own defaults: rank 16, a projector every 200
/// steps (hparams/finetuning_args.py).
void read_factory_projection(SettingsReading& reading, const std::string& above, const std::string& word) {
  const auto asked = reading.flag({above + "use_" + word});
  if (!asked) return;
  if (!*asked) return reading.fate(KeyFate::usual);
  constexpr double kFactoryRank = 16;
  // GaLore on top of an 8-bit optimizer keeps its states in 8 bits.
  const bool is_narrow = word == "galore" && value_of(reading.out(), "model.optimizer") == "\"adamw_8bit\"";
  std::vector<SettingEffect> effects{
      {"model.optimizer", fmt::format("\"{}_adamw{}\"", word, is_narrow ? "_8bit" : "")}};
  const std::string together = "see use_" + word;
  const auto rank = reading.number({above + word + "_rank"});
  if (rank) reading.fate(KeyFate::usual, together);
  const auto gap = reading.number({above + word + "_update_interval"});
  if (gap) reading.fate(KeyFate::usual, together);
  add_count(effects, "model.optimizer_rank", rank.value_or(kFactoryRank));
  add_count(effects, "model.optimizer_update_gap", gap);
  if (reading.flag({above + word + "_layerwise"}).value_or(false))
    effects.push_back({"model.optimizer_in_backward", "true"});
  reading.effect_of(above + "use_" + word, std::move(effects));
}

}  // namespace

/// transformers has one text of arguments for all optimizers; only rank and interval matter here.
void read_galore(SettingsReading& reading, const std::string& above) {
  if (const auto arguments = reading.word({above + "optim_args"})) {
    std::vector<SettingEffect> effects;
    add_count(effects, "model.optimizer_rank", number_of_argument(*arguments, "rank"));
    add_count(effects, "model.optimizer_update_gap", number_of_argument(*arguments, "update_proj_gap"));
    if (effects.empty())
      reading.fate(KeyFate::no_influence);
    else
      reading.effect(std::move(effects));
  }
  read_factory_projection(reading, above, "galore");
  read_factory_projection(reading, above, "apollo");
}

/// Defaults of a tool are told without a place, so every key of the file wins over them.
void read_memory_switches(SettingsReading& reading, const std::string& above) {
  read_packing(reading, above);
  read_factory_checkpointing(reading, above);
  read_checkpointing_word(reading, above + "gradient_checkpointing");
  read_checkpointing_word(reading, above + "use_gradient_checkpointing");
  // The flag has a second name, use_gradient_checkpointing.
  if (const YamlNode* node = reading.find({above + "use_gradient_checkpointing"});
      node != nullptr && flag_in(node->text))
    reading.effect({{"model.recompute", toml_flag(*flag_in(node->text))}});
  read_activation_offloading(reading, above + "activation_offloading");
  // LLaMA-Factory's names for two of the switches.
  if (const auto on = reading.flag({above + "use_unsloth_gc"})) {
    if (*on)
      reading.effect(offloaded_checkpoints());
    else
      reading.fate(KeyFate::usual);
  }
  if (const auto on = reading.flag({above + "upcast_layernorm"})) {
    if (*on && has_narrow_weights(reading))
      reading.effect({{"model.upcast", "\"norms\""}});
    else
      reading.fate(KeyFate::usual);
  }
}

/// PEFT's function casts every weight that is not packed to fp32, and turns on checkpointing by default.
void read_kbit_preparation(SettingsReading& reading) {
  constexpr const char* kCall = "prepare_model_for_kbit_training";
  if (!reading.has(kCall)) return;
  if (has_narrow_weights(reading))
    reading.by_default("prepare_model_for_kbit_training makes every weight fp32 that is not packed",
                       {{"model.upcast", "\"all\""}});
  const std::string path = fmt::format("{}.use_gradient_checkpointing", kCall);
  const auto recomputes = reading.flag({path});
  if (recomputes)
    reading.effect({{"model.recompute", toml_flag(*recomputes)}});
  else if (!reading.has(path))
    reading.by_default("prepare_model_for_kbit_training recomputes blocks", {{"model.recompute", "true"}});
  reading.fate_of(fmt::format("{}.gradient_checkpointing_kwargs", kCall), KeyFate::no_influence);
}

}  // namespace foretrain
