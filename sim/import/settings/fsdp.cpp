// Reads PyTorch's FSDP as other tools configure it: accelerate's fsdp_config with old and new names, and the
// same table by itself, as Hugging Face's Trainer takes it:
//
//   {"fsdp_version": 2, "fsdp_reshard_after_forward": true, "fsdp_transformer_layer_cls_to_wrap":
//   "LlamaDecoderLayer"}
//
// Taken are version, sharding, prefetch, wrapping, offload and precision. Which class is wrapped is not:
// units are the blocks of the model file.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/import/settings/fsdp_keys.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// Parameters of a unit where size_based_auto_wrap_policy has no number (PyTorch's default).
constexpr std::int64_t kUsualUnit = 100'000'000;
/// Unit size that no network reaches, so that one unit holds everything.
constexpr const char* kWholeNetwork = "1000000000000";

/// Returns the path of a key, with "fsdp_" in front of its name where the file has it so.
std::string present_path(SettingsReading& reading, const std::string& above, std::string_view name) {
  std::string path = fmt::format("{}fsdp_{}", above, name);
  return reading.has(path) ? path : fmt::format("{}{}", above, name);
}

/// Reads how modules are grouped into units. A size counts with the size-based policy, or where no policy is
/// named.
void read_wrapping(SettingsReading& reading, const std::string& above) {
  const std::string least = present_path(reading, above, "min_num_params");
  const auto parameters = reading.integer({least}, 0, 1'000'000'000'000);
  if (parameters) reading.fate(KeyFate::usual, "counts with the size-based policy");
  const auto policy = reading.word({present_path(reading, above, "auto_wrap_policy")});
  // Policies by size have units of at least so many parameters; all others wrap blocks.
  const bool by_size = policy && policy->find("size") != std::string::npos;
  if (policy && !by_size) {
    if (*policy == "no_wrap")
      reading.effect({{"strategy.unit_parameters", kWholeNetwork}}, "one unit holds the whole network");
    else
      reading.fate(KeyFate::usual, "one unit for each block");
  }
  if (!by_size && !(parameters && *parameters > 0 && !policy)) return;
  const std::int64_t size = parameters && *parameters > 0 ? *parameters : kUsualUnit;
  reading.effect_of(policy ? present_path(reading, above, "auto_wrap_policy") : least,
                    {{"strategy.unit_parameters", std::to_string(size)}});
}

/// Reads reshard_after_forward. In FSDP2 it tells whether parameters are dropped behind forward; in FSDP1 it
/// has the sharding strategy's name.
void read_reshard(SettingsReading& reading, const std::string& above) {
  const auto word = reading.word({present_path(reading, above, "reshard_after_forward")});
  if (!word) return;
  if (const auto drops = flag_in(*word))
    return reading.effect({{"strategy.sharding", *drops ? "\"full_shard\"" : "\"shard_grad_op\""}});
  put_sharding(reading, *word);
}

/// Reads FullyShardedDataParallelPlugin.mixed_precision_policy: one word for all types, or a table of them.
void read_policy(SettingsReading& reading, const std::string& above) {
  const std::string path = present_path(reading, above, "mixed_precision_policy");
  const YamlNode* policy = reading.find({path});
  if (policy == nullptr) return;
  if (policy->kind == SettingKind::map) return read_fsdp_policy(reading, path + ".", UnexpectedType::mistake);
  const auto word = reading.word({path});
  if (!word) return;
  if (*word == "no") return reading.fate(KeyFate::usual);
  if (!put_fsdp_param_type(reading, *word))
    reading.mistake(fmt::format("\"{}\" is no mixed_precision_policy", *word), "fp16, bf16 or a table");
}

/// Applies the rows whose names may or may not have "fsdp_" in front. `paths` must outlive the rules, which
/// refer to it.
void add_fsdp_rules(SettingsReading& reading, const std::string& above) {
  struct Row {
    const char* name;
    KeyReads reads;
    const char *to, *note;
  };
  // Names without "fsdp_"; present_path() adds it where the file has it.
  static constexpr Row kRows[] = {
      {"forward_prefetch", KeyReads::flag, "strategy.forward_prefetch", ""},
      {"limit_all_gathers", KeyReads::flag, "strategy.limit_all_gathers", ""},
      {"offload_params", KeyReads::flag, "strategy.offload_params", ""},
      {"cpu_offload", KeyReads::flag, "strategy.offload_params", ""},
      {"activation_checkpointing", KeyReads::flag, "model.recompute", ""},
      {"activation_checkpointing_reentrant", KeyReads::nothing, "", ""},
      {"transformer_layer_cls_to_wrap", KeyReads::usual, "", "one unit for each block"},
      {"use_orig_params", KeyReads::usual, "", ""},
      {"sync_module_states", KeyReads::nothing, "", "before the first step"},
      {"cpu_ram_efficient_loading", KeyReads::nothing, "", "before the first step"},
      {"state_dict_type", KeyReads::nothing, "", "of checkpoints"},
      {"ignored_modules", KeyReads::unmodelled, "", "some modules are not sharded"},
      {"mixed_precision_policy.*", KeyReads::nothing, "", ""}};
  std::vector<std::string> paths;
  for (const Row& row : kRows) paths.push_back(present_path(reading, above, row.name));
  std::vector<KeyRule> rules;
  for (std::size_t i = 0; i < paths.size(); ++i)
    rules.push_back({paths[i], kRows[i].reads, kRows[i].to, kRows[i].note});
  reading.apply(rules);
}

}  // namespace

/// Version 2 is fully_shard, which has no option for the sharding strategy's name.
void read_fsdp_keys(SettingsReading& reading, const std::string& above) {
  const auto version = reading.integer({present_path(reading, above, "version")}, 1, 2);
  const std::string name = version.value_or(1) == 2 ? "fsdp2" : "fsdp";
  if (version)
    reading.effect({{"strategy.name", toml_text(name)}});
  else
    reading.by_default("FSDP", {{"strategy.name", toml_text(name)}});
  if (const auto word = reading.word({present_path(reading, above, "sharding_strategy")}))
    put_sharding(reading, *word);
  read_reshard(reading, above);
  if (const auto word =
          reading.word({above + "fsdp_backward_prefetch", above + "fsdp_backward_prefetch_policy",
                        above + "backward_prefetch", above + "backward_prefetch_policy"}))
    put_backward_prefetch(reading, *word);
  read_wrapping(reading, above);
  read_policy(reading, above);
  add_fsdp_rules(reading, above);
}

/// Names with "fsdp_" and without are both in use; any of them marks the table.
bool is_fsdp_config(const YamlNode& tree) {
  constexpr std::array<std::string_view, 10> kMarks{"fsdp_sharding_strategy",
                                                    "fsdp_version",
                                                    "fsdp_transformer_layer_cls_to_wrap",
                                                    "fsdp_auto_wrap_policy",
                                                    "transformer_layer_cls_to_wrap",
                                                    "backward_prefetch",
                                                    "fsdp_backward_prefetch",
                                                    "fsdp_min_num_params",
                                                    "fsdp_offload_params",
                                                    "fsdp_reshard_after_forward"};
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return !tree.at(mark).is_null(); });
}

/// The table stands at the top of the file, so nothing is above its keys.
void read_fsdp_config(SettingsReading& reading) {
  read_fsdp_keys(reading, "");
  static constexpr KeyRule kRest[] = {{"xla", KeyReads::unmodelled, {}, "XLA's own sharding"},
                                      {"xla_fsdp_settings.*", KeyReads::nothing},
                                      {"xla_fsdp_grad_ckpt", KeyReads::nothing}};
  reading.apply(kRest);
}

}  // namespace foretrain
