// Reads adapters, quantised weights and lengths of samples under the names that PEFT, TRL, LLaMA-Factory,
// axolotl, ms-swift, litgpt and transformers have for them.
//
// Each name is a row of a table, and whichever of the names stands in a file decides. So one reader serves
// all tools, and a new name is one more row.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/settings/fine_tuning_keys.hpp"
#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// Names of one thing in different tools; the first one that is there counts.
using KeyNames = std::span<const std::string_view>;

/// Names of the rank, the layers with adapters, the layers that are trained whole, and DoRA.
constexpr std::string_view kRankNames[] = {"lora_rank", "lora_r", "r"};
constexpr std::string_view kTargetNames[] = {"lora_target", "lora_target_modules", "target_modules"};
constexpr std::string_view kTrainedWholeNames[] = {"modules_to_save", "lora_modules_to_save",
                                                   "additional_target", "unfrozen_parameters"};
constexpr std::string_view kDoraNames[] = {"use_dora", "peft_use_dora"};
constexpr std::string_view kDropoutNames[] = {"lora_dropout"};
/// Names of the length of samples in tokens, and of the type in which weights are loaded.
constexpr std::string_view kLengthNames[] = {"cutoff_len", "sequence_len",     "max_seq_length",
                                             "max_length", "model_max_length", "block_size"};
constexpr std::string_view kTypeNames[] = {"torch_dtype", "dtype"};

/// A key that asks for fused kernels. `value`: the word with which it does; empty: when it is true.
struct FusedKernelKey {
  std::string_view key, value, kernels;
};
/// Keys of LLaMA-Factory, axolotl, TRL, ms-swift and transformers.
constexpr FusedKernelKey kFusedKernelKeys[] = {
    {"use_liger_kernel", "", "liger"},
    {"enable_liger_kernel", "", "liger"},
    {"use_liger", "", "liger"},
    {"use_unsloth", "", "unsloth"},
    {"liger_rms_norm", "", "rms_norm"},
    {"liger_glu_activation", "", "swiglu"},
    {"liger_rope", "", "rope"},
    {"liger_cross_entropy", "", "cross_entropy"},
    {"liger_fused_linear_cross_entropy", "", "linear_cross_entropy"},
    {"cut_cross_entropy", "", "linear_cross_entropy"},
    {"unsloth_cross_entropy_loss", "", "cross_entropy"},
    {"flash_attn_cross_entropy", "", "cross_entropy"},
    {"flash_attn_rms_norm", "", "rms_norm"},
    {"flash_attention", "", "flash_attention"},
    {"flash_attn", "fa2", "flash_attention"},
    {"attn_impl", "flash_attn", "flash_attention"},
    {"attn_implementation", "flash_attention_2", "flash_attention"}};
/// Key of the scenario that says whether adapters are trained, and of which kind.
constexpr std::string_view kAdapterKind = "model.adapters.kind";

/// Kinds of trained vectors in front of sequences, by PEFT's types and classes.
struct VirtualTokenWord {
  std::string_view type, config, kind;
};
constexpr VirtualTokenWord kVirtualTokenWords[] = {
    {"prompt_tuning", "PromptTuningConfig.", "prompt"},
    {"p_tuning", "PromptEncoderConfig.", "p_tuning"},
    {"prefix_tuning", "PrefixTuningConfig.", "prefix"},
};
/// Largest number of virtual tokens, and largest width of their encoder.
constexpr double kMostVirtual = 100'000, kWidestVirtual = 10'000'000;

/// Returns the words of a list, or of a text with commas.
std::vector<std::string> words_of_node(const YamlNode& node) {
  std::vector<std::string> words;
  if (node.kind == YamlNode::Kind::list) {
    for (const YamlNode& item : node.items) words.push_back(item.text);
    return words;
  }
  // A text with commas, as on a command line.
  std::string_view rest = node.text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = trimmed(rest.substr(0, comma));
    if (!word.empty()) words.emplace_back(word);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return words;
}

/// Returns words as a list in TOML.
std::string toml_words(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words)
    list += fmt::format("{}{}", list.empty() ? "" : ", ", toml_text(word));
  return fmt::format("[{}]", list);
}

/// Reads the keys below a path. Each function reads one thing and tells what becomes of its key.
class FineTuningReading {
 public:
  FineTuningReading(SettingsReading& reading, std::string above)
      : reading_(reading), above_(std::move(above)) {}

  /// Reads everything. The method comes first, because ranks and targets count only where adapters are
  /// trained.
  void read() {
    read_method();
    read_rank();
    read_virtual_tokens();
    read_names(kTargetNames, "model.adapters.targets");
    if (flag({"lora_target_linear"}).value_or(false)) say({{"model.adapters.targets", "\"all-linear\""}});
    read_names(kTrainedWholeNames, "model.trainable");
    if (flag(kDoraNames).value_or(false)) say({{std::string(kAdapterKind), "\"dora\""}});
    if (const auto share = number(kDropoutNames)) say({{"model.adapters.dropout", toml_flag(*share > 0)}});
    read_bits();
    read_type();
    read_length();
    read_fused_kernels();
  }

 private:
  // Lookups by several names below the path, in the forms that the functions need.
  using Words = std::initializer_list<std::string_view>;
  const YamlNode* find(Words names) { return find(KeyNames(names.begin(), names.size())); }
  std::optional<bool> flag(Words names) { return flag(KeyNames(names.begin(), names.size())); }
  std::optional<double> number(Words names) { return number(KeyNames(names.begin(), names.size())); }
  std::string word(Words names) { return word(KeyNames(names.begin(), names.size())); }

  // The lookups return what the first name that is there has; nothing where none is.
  const YamlNode* find(KeyNames names) {
    for (const std::string_view name : names) {
      if (const YamlNode* node = reading_.find({above_ + std::string(name)})) return node;
    }
    return nullptr;
  }
  std::optional<bool> flag(KeyNames names) {
    const YamlNode* node = find(names);
    return node == nullptr ? std::nullopt : flag_in(node->text);
  }
  std::optional<double> number(KeyNames names) {
    const YamlNode* node = find(names);
    return node == nullptr ? std::nullopt : number_in(node->text);
  }
  std::string word(KeyNames names) {
    const YamlNode* node = find(names);
    return node == nullptr ? std::string() : lower_case(node->text);
  }
  /// Returns whether the file trains adapters.
  bool trains_adapters() { return !value_of(reading_.out(), std::string(kAdapterKind)).empty(); }
  /// Tells what the key found last comes to.
  void say(std::vector<SettingEffect> effects, std::string note = "") {
    reading_.effect(std::move(effects), std::move(note));
  }

  /// Reads the kind of training: adapters of a kind, the last blocks alone, or the whole network.
  void read_method() {
    const std::string method = word({"finetuning_type", "adapter", "peft_type", "tuner_type", "train_type"});
    if (method == "lora" || method == "qlora") {
      say({{std::string(kAdapterKind), "\"lora\""}});
      if (reading_.has(above_ + "finetuning_type") && find(kTargetNames) == nullptr)
        reading_.by_default("LLaMA-Factory adapts every linear layer",
                            {{"model.adapters.targets", "\"all-linear\""}});
      return;
    }
    if (method == "ia3") return say({{std::string(kAdapterKind), "\"ia3\""}});
    for (const VirtualTokenWord& row : kVirtualTokenWords) {
      if (method == row.type) return say({{std::string(kAdapterKind), toml_text(row.kind)}});
      if (above_.ends_with(row.config))
        return reading_.by_default(std::string(row.config.substr(0, row.config.size() - 1)),
                                   {{std::string(kAdapterKind), toml_text(row.kind)}});
    }
    // LLaMA-Factory's other methods: the whole network, or its last blocks.
    if (method == "full") return reading_.fate(KeyFate::usual);
    if (method == "freeze") {
      const auto blocks = number({"freeze_trainable_layers"});
      say({{"model.trainable",
            fmt::format("[\"last:{}\"]", blocks ? static_cast<int>(std::abs(*blocks)) : 2)}});
      return;
    }
    if (!method.empty()) return reading_.fate(KeyFate::not_modelled, std::string(kAdaptersAlone));
    // TRL's flag for LoRA; its default rank is 16.
    if (flag({"use_peft"}).value_or(false))
      return say({{std::string(kAdapterKind), "\"lora\""}, {"model.adapters.rank", "16"}});
    // A call of PEFT's class is itself the choice of the method.
    if (above_.ends_with("LoraConfig.") || above_.ends_with("get_peft_model."))
      reading_.by_default("LoraConfig", {{std::string(kAdapterKind), "\"lora\""}});
  }

  /// Reads the rank of adapters.
  void read_rank() {
    const YamlNode* node = find(kRankNames);
    if (node == nullptr) return;
    const auto rank = number_in(node->text);
    if (!trains_adapters()) return reading_.fate(KeyFate::usual, "no adapters are trained");
    if (!rank || *rank < 1 || *rank > 1e6)
      return reading_.mistake(fmt::format("\"{}\" is no rank of an adapter", node->text), "8 to 64 is usual");
    say({{"model.adapters.rank", fmt::format("{:.0f}", *rank)}});
  }

  /// Reads the number of virtual tokens and the width of their encoder. A prefix has an encoder only with
  /// prefix_projection, and a prompt never has one.
  void read_virtual_tokens() {
    const std::string kind = value_of(reading_.out(), std::string(kAdapterKind));
    const bool is_virtual = std::ranges::any_of(
        kVirtualTokenWords, [&](const VirtualTokenWord& row) { return kind == toml_text(row.kind); });
    // Reads one count; where it does not count, the key is as usual.
    const auto read = [&](std::string_view name, std::string_view to, double most, bool counts) {
      const YamlNode* node = find({name});
      if (node == nullptr) return;
      const auto number = number_in(node->text);
      if (!counts || !number) return reading_.fate(KeyFate::usual);
      if (*number < 1 || *number > most)
        return reading_.mistake(fmt::format("{} is no {}", node->text, name), "20 tokens are usual");
      say({{std::string(to), fmt::format("{:.0f}", *number)}});
    };
    const auto projects = flag({"prefix_projection"});
    if (projects) reading_.fate(KeyFate::usual);
    read("num_virtual_tokens", "model.adapters.virtual_tokens", kMostVirtual, is_virtual);
    const bool has_encoder = kind == "\"p_tuning\"" || (kind == "\"prefix\"" && projects.value_or(false));
    read("encoder_hidden_size", "model.adapters.encoder_width", kWidestVirtual, has_encoder);
  }

  /// Reads a list of layers: those with adapters, or those that are trained whole.
  void read_names(KeyNames names, std::string_view to) {
    const YamlNode* node = find(names);
    if (node == nullptr) return;
    // Patterns are regular expressions over names, which need the network's own names.
    std::vector<std::string> words = words_of_node(*node);
    const bool is_target = to == "model.adapters.targets";
    if (words.empty() || (is_target && !trains_adapters())) return reading_.fate(KeyFate::usual);
    // LLaMA-Factory calls all linear layers "all".
    for (std::string& name : words) {
      if (is_target && name == "all") name = "all-linear";
    }
    const bool is_pattern = std::ranges::any_of(
        words, [](const std::string& name) { return name.find_first_of("*^$(|") != std::string::npos; });
    if (is_pattern)
      return reading_.fate(KeyFate::not_modelled, "patterns of names are not read: list the layers");
    say({{std::string(to), toml_words(words)}});
  }

  /// Reads the bits of the weights. Four bits are quantised twice where the tool does so by itself
  /// (LLaMA-Factory) or is asked to.
  // The keys are bitsandbytes' flags and the numbers of LLaMA-Factory and ms-swift.
  void read_bits() {
    const std::string method = word({"adapter"});
    const auto nested = flag({"bnb_4bit_use_double_quant", "double_quantization", "use_bnb_nested_quant"});
    if (nested) reading_.fate(KeyFate::usual);
    const auto bits = number({"quantization_bit", "quant_bits"});
    // A flag or a number may ask for 4 bits.
    const bool is_four = flag({"load_in_4bit"}).value_or(false) || (bits && *bits == 4);
    const bool is_own_default = bits.has_value() || method == "qlora";
    if (is_four) {
      // The lookup chooses the key that the effect is told of.
      find({"load_in_4bit", "quantization_bit", "quant_bits"});
      return say({{"model.weights", nested.value_or(is_own_default) ? "\"nf4_double\"" : "\"nf4\""}});
    }
    if (flag({"load_in_8bit"}).value_or(false) || (bits && *bits == 8)) {
      find({"load_in_8bit", "quantization_bit", "quant_bits"});
      return say({{"model.weights", "\"int8\""}});
    }
    if (find({"quantization_bit", "quant_bits"}) != nullptr)
      reading_.fate(KeyFate::not_modelled, "weights of fewer bits");
  }

  /// Reads the type in which weights are loaded. Weights of 16 bits stay so where nothing keeps fp32 copies
  /// of them.
  void read_type() {
    std::string type = word(kTypeNames);
    if (type.starts_with("torch.")) type.erase(0, 6);
    const bool is_pure = flag({"pure_bf16"}).value_or(false);
    if (is_pure) type = "bfloat16";
    if (type.empty() || !value_of(reading_.out(), "model.weights").empty()) return;
    const bool has_masters = value_of(reading_.out(), "model.half_weights") == "true";
    if (has_masters || type == "auto" || type == "float32") return reading_.fate(KeyFate::usual);
    if (type == "bfloat16" || type == "bf16") say({{"model.weights", "\"bf16\""}});
    if (type == "float16" || type == "fp16") say({{"model.weights", "\"fp16\""}});
  }

  /// Reads the length of samples, in tokens.
  void read_length() {
    const YamlNode* node = find(kLengthNames);
    if (node == nullptr) return;
    const auto length = number_in(node->text);
    if (!length || *length < 1 || *length > 1e8)
      return reading_.fate(KeyFate::usual, "the tokens of the model file");
    say({{"model.sequence_length", fmt::format("{:.0f}", *length)}}, "samples are filled up, or shorter");
  }

  /// Reads which kernels are fused. Several keys of one file add up, so each effect has the list so far.
  void read_fused_kernels() {
    std::vector<std::string> kernels;
    for (const FusedKernelKey& row : kFusedKernelKeys) {
      const YamlNode* node = find({row.key});
      if (node == nullptr) continue;
      const bool is_asked =
          row.value.empty() ? flag_in(node->text).value_or(false) : lower_case(node->text) == row.value;
      if (!is_asked) {
        reading_.fate(KeyFate::usual);
        continue;
      }
      if (std::ranges::find(kernels, row.kernels) == kernels.end()) kernels.emplace_back(row.kernels);
      say({{"model.fused_kernels", toml_words(kernels)}});
    }
  }

  SettingsReading& reading_;
  std::string above_;
};

}  // namespace

/// The object lives for one call; all results go into the reading.
void read_fine_tuning(SettingsReading& reading, const std::string& above) {
  FineTuningReading(reading, above).read();
}

/// The default is told only where nothing else decided the type of the weights.
void keep_frozen_weights_narrow(SettingsReading& reading) {
  const TrainingSettings& out = reading.out();
  const bool is_half =
      value_of(out, "model.precision") == "\"bf16\"" || value_of(out, "model.precision") == "\"amp_fp16\"";
  const bool is_said =
      !value_of(out, "model.weights").empty() || value_of(out, "model.half_weights") == "true";
  if (!is_half || is_said || value_of(out, "model.adapters.kind").empty()) return;
  const char* format = value_of(out, "model.precision") == "\"bf16\"" ? "\"bf16\"" : "\"fp16\"";
  reading.by_default("frozen weights are loaded in 16 bits", {{"model.weights", format}});
}

/// PEFT writes adapter_config.json beside the adapters; peft_type stands in each.
bool is_adapter_config(const YamlNode& tree) { return !tree.at("peft_type").is_null(); }

/// The file describes adapters alone, so everything else in it has no influence.
void read_adapter_config(SettingsReading& reading) {
  read_fine_tuning(reading, "");
  for (const char* idle :
       {"base_model_name_or_path", "bias", "lora_alpha", "inference_mode", "task_type", "init_lora_weights",
        "fan_in_fan_out", "use_rslora", "revision", "auto_mapping", "layers_to_transform", "layers_pattern",
        "rank_pattern", "alpha_pattern", "megatron_config", "megatron_core", "loftq_config"})
    reading.fate_of(idle, KeyFate::no_influence);
}

}  // namespace foretrain
