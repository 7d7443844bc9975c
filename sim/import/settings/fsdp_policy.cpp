// Reads FSDP's mixed precision: MixedPrecision of FSDP1, MixedPrecisionPolicy of FSDP2, and tables of the
// same keys (torch/distributed/fsdp/api.py, torch/distributed/fsdp/_fully_shard/_fsdp_api.py):
//
//   MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
//
// The type of the parameters also is the precision of the products; the type of the sums decides how many
// bytes a gradient has on the wire.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/import/settings/fsdp_keys.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// A type as PyTorch or a user spells it, its word in strategy options, and the precision of the products; an
/// empty precision leaves that of the model.
struct TypeWord {
  std::string_view word, type, precision;
};

/// Spellings of PyTorch, accelerate and users.
constexpr TypeWord kTypeWords[] = {
    {"bfloat16", "bf16", "bf16"}, {"bf16", "bf16", "bf16"},     {"float16", "fp16", "amp_fp16"},
    {"fp16", "fp16", "amp_fp16"}, {"half", "fp16", "amp_fp16"}, {"float32", "fp32", ""},
    {"fp32", "fp32", ""},         {"float", "fp32", ""}};

/// Returns the row of "torch.bfloat16", "bfloat16" or "bf16"; nullptr: no type that FSDP sums in.
const TypeWord* policy_type(std::string_view word) {
  word.remove_prefix(word.starts_with("torch.") ? 6 : 0);
  const auto found = std::ranges::find(kTypeWords, word, &TypeWord::word);
  return found == std::end(kTypeWords) ? nullptr : found;
}

/// Tells a value that is no type, as a mistake or as open.
void report_unexpected_type(SettingsReading& reading, std::string_view word, UnexpectedType odd) {
  if (odd == UnexpectedType::open)
    return reading.fate(KeyFate::open, "--set of the strategy's option says it");
  reading.mistake(fmt::format("\"{}\" is no type of FSDP's mixed precision", word),
                  "bfloat16, float16 or float32");
}

}  // namespace

/// Parameters in 32 bits leave the precision as it is.
bool put_fsdp_param_type(SettingsReading& reading, std::string_view word) {
  const TypeWord* type = policy_type(word);
  if (type == nullptr) return false;
  std::vector<SettingEffect> effects{{"strategy.param_dtype", toml_text(type->type)}};
  if (!type->precision.empty()) effects.push_back({"model.precision", toml_text(type->precision)});
  reading.effect(std::move(effects));
  return true;
}

bool put_fsdp_reduce_type(SettingsReading& reading, std::string_view word) {
  const TypeWord* type = policy_type(word);
  if (type == nullptr) return false;
  reading.effect({{"strategy.reduce_dtype", toml_text(type->type)}});
  return true;
}

/// The other keys of a policy cost little or are not modelled.
void read_fsdp_policy(SettingsReading& reading, const std::string& above, UnexpectedType odd) {
  if (const auto word = reading.word({above + "param_dtype"})) {
    if (!put_fsdp_param_type(reading, *word)) report_unexpected_type(reading, *word, odd);
  }
  if (const auto word = reading.word({above + "reduce_dtype"})) {
    if (!put_fsdp_reduce_type(reading, *word)) report_unexpected_type(reading, *word, odd);
  }
  // Paths are kept in an array because rules refer to their texts.
  const std::string paths[] = {above + "buffer_dtype",
                               above + "output_dtype",
                               above + "cast_forward_inputs",
                               above + "cast_root_forward_inputs",
                               above + "keep_low_precision_grads",
                               above + "_module_classes_to_ignore.*"};
  const KeyRule rules[] = {
      {paths[0], KeyReads::nothing, {}, "buffers are cast once and are not sent"},
      {paths[1], KeyReads::usual, {}, "casts of what units give take little"},
      {paths[2], KeyReads::usual},
      {paths[3], KeyReads::usual},
      {paths[4], KeyReads::unmodelled, {}, "the optimizer is predicted with gradients of fp32"},
      {paths[5], KeyReads::unmodelled, {}, "modules that stay fp32 are units of their own"}};
  reading.apply(rules);
}

/// In a program the type may be a variable of the run, so an unknown one stays open.
void read_fsdp_policy_argument(SettingsReading& reading, const std::string& path) {
  read_fsdp_policy(reading, path + ".init_args.", UnexpectedType::open);
  // The class itself has no effect beside its arguments.
  reading.fate_of(path + ".class_path", KeyFate::usual, "see its arguments");
}

}  // namespace foretrain
