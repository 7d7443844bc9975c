// Maps precisions, optimizers and shardings as the tools spell them to the words of the scenario.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// A precision as a tool names it, and its name here.
struct PrecisionWord {
  std::string_view word, precision;
  // The weights themselves have 16 bits.
  bool true_half = false;
};

/// Words of accelerate, Lightning, DeepSpeed, PyTorch and Keras.
constexpr PrecisionWord kPrecisionWords[] = {{"no", "fp32"},
                                             {"fp32", "fp32"},
                                             {"32", "fp32"},
                                             {"32-true", "fp32"},
                                             {"float32", "fp32"},
                                             {"float", "fp32"},
                                             // Mixed precision in 16 bits.
                                             {"fp16", "amp_fp16"},
                                             {"16", "amp_fp16"},
                                             {"16-mixed", "amp_fp16"},
                                             {"float16", "amp_fp16"},
                                             {"half", "amp_fp16"},
                                             {"mixed_float16", "amp_fp16"},
                                             {"bf16", "bf16"},
                                             {"bf16-mixed", "bf16"},
                                             {"bfloat16", "bf16"},
                                             {"mixed_bfloat16", "bf16"},
                                             // Weights of 16 bits, then products of 8 bits.
                                             {"16-true", "amp_fp16", true},
                                             {"bf16-true", "bf16", true},
                                             {"fp8", "fp8"},
                                             {"transformer-engine", "fp8"},
                                             {"transformer-engine-float16", "fp8"}};

/// Note for weights without an fp32 copy, which the model has.
constexpr std::string_view kTrueHalf =
    "weights are 16-bit without an fp32 copy; here they have one, which takes memory and time of the "
    "optimizer";

// Note for optimizers with paged states.
constexpr std::string_view kPaged = "its state may move to the host's memory, which is not counted on";

/// An optimizer as a tool names it, its name here, the form of its kernels, and a note.
struct OptimizerWord {
  std::string_view word, name, form, note;
};

/// Names in lower case, without the module in front.
constexpr OptimizerWord kOptimizerWords[] = {{"sgd", "sgd", "", ""},
                                             {"momentum", "momentum", "", ""},
                                             {"nesterov", "nesterov", "", ""},
                                             {"adam", "adam", "", ""},
                                             {"adamw", "adamw", "", ""},
                                             {"torch_adam", "adam", "", ""},
                                             // transformers, Apex and DeepSpeed.
                                             {"adamw_hf", "adamw", "for_loop", ""},
                                             {"adamw_torch", "adamw", "", ""},
                                             {"adamw_torch_fused", "adamw", "fused", ""},
                                             {"adamw_apex_fused", "adamw", "fused", ""},
                                             {"fusedadam", "adam", "fused", ""},
                                             {"fused_adam", "adam", "fused", ""},
                                             {"deepspeedcpuadam", "adam", "", ""},
                                             // States in 8 or 4 bits, and paged states.
                                             {"adamw_8bit", "adamw_8bit", "", ""},
                                             {"adamw_bnb_8bit", "adamw_8bit", "", ""},
                                             {"adamw8bit", "adamw_8bit", "", ""},
                                             {"adam8bit", "adamw_8bit", "", ""},
                                             {"paged_adamw_8bit", "adamw_8bit", "", kPaged},
                                             {"pagedadamw8bit", "adamw_8bit", "", kPaged},
                                             {"paged_adamw_32bit", "adamw", "", kPaged},
                                             {"paged_adamw", "adamw", "", kPaged},
                                             {"adamw_torch_8bit", "adamw_8bit", "", ""},
                                             {"adamw_torch_4bit", "adamw_4bit", "", ""},
                                             // Optimizers with smaller or other states.
                                             {"adafactor", "adafactor", "", ""},
                                             {"lion_32bit", "lion", "", ""},
                                             {"lion", "lion", "", ""},
                                             {"muon", "muon", "", ""},
                                             {"galore_adamw", "galore_adamw", "", ""},
                                             {"galore_adamw_8bit", "galore_adamw_8bit", "", ""},
                                             {"galoreadamw", "galore_adamw", "", ""},
                                             {"galoreadamw8bit", "galore_adamw_8bit", "", ""},
                                             {"apollo_adamw", "apollo_adamw", "", ""},
                                             {"apolloadamw", "apollo_adamw", "", ""},
                                             {"shampoo", "shampoo", "", ""},
                                             {"distributedshampoo", "shampoo", "", ""},
                                             // Further optimizers.
                                             {"lamb", "lamb", "", ""},
                                             {"fusedlamb", "lamb", "fused", ""},
                                             {"adagrad", "adagrad", "", ""},
                                             {"adadelta", "adadelta", "", ""},
                                             {"rmsprop", "rmsprop", "", ""}};

}  // namespace

/// Weights of 16 bits follow from the strategy or from the word itself.
bool put_precision(SettingsReading& reading, std::string_view word, bool half_weights) {
  const std::string wanted = lower_case(word);
  const auto found = std::ranges::find(kPrecisionWords, std::string_view(wanted), &PrecisionWord::word);
  if (found == std::end(kPrecisionWords)) return false;
  std::vector<SettingEffect> effects{{"model.precision", toml_text(found->precision)}};
  if (found->precision != "fp32" && (half_weights || found->true_half))
    effects.push_back({"model.half_weights", "true"});
  reading.effect(std::move(effects), std::string(found->true_half ? kTrueHalf : std::string_view()));
  return true;
}

bool put_optimizer(SettingsReading& reading, std::string_view name) {
  std::string wanted = lower_case(name);
  wanted.erase(0, wanted.rfind('.') == std::string::npos ? 0 : wanted.rfind('.') + 1);
  // transformers' galore_adamw_layerwise updates each parameter in backward.
  constexpr std::string_view kLayerwise = "_layerwise";
  const bool is_layerwise = wanted.ends_with(kLayerwise);
  if (is_layerwise) wanted.erase(wanted.size() - kLayerwise.size());
  const auto found = std::ranges::find(kOptimizerWords, std::string_view(wanted), &OptimizerWord::word);
  if (found == std::end(kOptimizerWords)) return false;
  std::vector<SettingEffect> effects{{"model.optimizer", toml_text(found->name)}};
  if (is_layerwise) effects.push_back({"model.optimizer_in_backward", "true"});
  if (!found->form.empty()) effects.push_back({"model.optimizer_form", toml_text(found->form)});
  reading.effect(std::move(effects), std::string(found->note));
  return true;
}

/// Numbers are those of PyTorch's enumeration ShardingStrategy.
void put_sharding(SettingsReading& reading, std::string_view word) {
  std::string wanted = lower_case(word);
  std::replace(wanted.begin(), wanted.end(), '-', '_');
  static const std::map<std::string_view, std::string_view> kWords{{"1", "full_shard"},
                                                                   {"full_shard", "full_shard"},
                                                                   {"2", "shard_grad_op"},
                                                                   {"shard_grad_op", "shard_grad_op"},
                                                                   {"3", "no_shard"},
                                                                   {"no_shard", "no_shard"},
                                                                   {"4", "hybrid_shard"},
                                                                   {"hybrid_shard", "hybrid_shard"},
                                                                   {"5", "hybrid_shard"},
                                                                   {"hybrid_shard_zero2", "hybrid_shard"},
                                                                   {"_hybrid_shard_zero2", "hybrid_shard"}};
  const auto found = kWords.find(wanted);
  if (found == kWords.end())
    return reading.mistake(fmt::format("\"{}\" is no sharding strategy", word),
                           "FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD or HYBRID_SHARD_ZERO2");
  // The model has one form of hybrid sharding.
  const bool zero2 = wanted == "5" || wanted.ends_with("zero2");
  reading.effect({{"strategy.sharding", toml_text(found->second)}},
                 zero2 ? "predicted as HYBRID_SHARD, which gathers parameters once more, in backward" : "");
}

/// Names are those of PyTorch's enumeration BackwardPrefetch, with or without their first word.
void put_backward_prefetch(SettingsReading& reading, std::string_view word) {
  const std::string wanted = lower_case(word);
  const std::string_view name = wanted == "backward_pre" || wanted == "pre"     ? "pre"
                                : wanted == "backward_post" || wanted == "post" ? "post"
                                : wanted == "no_prefetch" || wanted == "none"   ? "none"
                                                                                : "";
  if (name.empty())
    return reading.mistake(fmt::format("\"{}\" is no backward prefetch", word),
                           "BACKWARD_PRE, BACKWARD_POST or NO_PREFETCH");
  reading.effect({{"strategy.backward_prefetch", toml_text(name)}});
}

/// A degree of 1 is no parallelism.
void put_parallelism(SettingsReading& reading, std::int64_t degree, std::string_view what) {
  if (degree <= 1) return reading.fate(KeyFate::usual);
  reading.fate(KeyFate::not_modelled,
               fmt::format("{} over {} GPUs: the prediction takes all GPUs for data parallel", what, degree));
}

/// One GPU is always predicted, too, as the reference of the speedup.
std::string gpu_list(std::int64_t gpus) { return gpus <= 1 ? "[1]" : fmt::format("[1, {}]", gpus); }

}  // namespace foretrain
