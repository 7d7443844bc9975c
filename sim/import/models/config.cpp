// Reads config.json of Hugging Face transformers: model_type names the family, architectures the head.
//
// save_pretrained() writes such a file beside the weights, for example
//
//   {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, ...}
//
// The sizes give the network layer by layer: a writer of the family fills them into a template that follows
// the modules in PyTorch. Families without a writer are looked up in models/families. Weights, tokenizer and
// generation settings are ignored. Unknown families, missing keys and wrong numbers are reported.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/import/models/config_families.hpp"
#include "sim/import/models/config_family_files.hpp"
#include "sim/import/models/readers.hpp"

namespace foretrain {

namespace {

/// Bytes; a config has a few thousand.
constexpr std::size_t kLargestConfig = std::size_t{4} << 20;

/// Keys under which the config of a model with several parts keeps the one of its language model.
constexpr const char* kParts[] = {"text_config", "llm_config", "language_config"};

/// Returns the row of a family, or nullptr where no writer of this program knows it.
const ConfigFamily* family_of(std::string_view model_type) {
  for (const ConfigFamily& family : config_families()) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

/// Names all families with a writer here and all that files of models/families describe.
std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const ConfigFamily& family : config_families()) names.emplace_back(family.model_type);
  for (std::string& type : config_types_of_families()) names.push_back(std::move(type));
  return names;
}

/// Returns a string value, cut to 80 bytes; empty where it is missing or no string.
std::string text_at(const LogJson& object, const char* key) {
  const LogJson& value = at(object, key);
  return value.is_string() ? value.get<std::string>().substr(0, 80) : "";
}

/// Returns the first architecture, such as "BertForMaskedLM"; transformers writes a list of one.
std::string architecture_of(const LogJson& config) {
  const LogJson& list = at(config, "architectures");
  return list.is_array() && !list.empty() && list[0].is_string() ? list[0].get<std::string>().substr(0, 80)
                                                                 : "";
}

/// Returns the part of the config that describes a known network. The whole config is tried before its parts;
/// a part is taken with a remark. Returns nullptr where nothing is known.
const LogJson* described_part(const LogJson& config, std::vector<std::string>& remarks) {
  if (family_of(text_at(config, "model_type")) != nullptr) return &config;
  for (const char* part : kParts) {
    const LogJson& inner = at(config, part);
    if (family_of(text_at(inner, "model_type")) == nullptr) continue;
    remarks.push_back(fmt::format("only the part in {} is taken: {} has others that are not known here", part,
                                  quotable(text_at(config, "model_type"))));
    return &inner;
  }
  return nullptr;
}

/// Returns the file of models/families for a config that no writer of this program knows.
std::optional<SourceText> unknown_to_writers(const LogJson& config) {
  const std::string type = text_at(config, "model_type");
  return family_of(type) == nullptr ? family_for_config(type) : std::nullopt;
}

/// Reports the missing or unknown model_type, with the known ones as the hint.
void report_unknown(const LogJson& config, Diagnostics& diagnostics) {
  const std::string type = text_at(config, "model_type");
  const std::vector<std::string> names = family_names();
  const std::string hint = fmt::format("known: {}", fmt::join(names, ", "));
  ConfigValues values(config, diagnostics);
  if (type.empty())
    values.refuse("model_type", "the config names no model_type", hint);
  else
    values.refuse("model_type", fmt::format("unknown model_type \"{}\"", type), hint);
}

}  // namespace

/// Several families share a writer, which then asks for model_type where they differ.
const std::vector<ConfigFamily>& config_families() {
  static const std::vector<ConfigFamily> rows{{"bert", write_bert},
                                              {"roberta", write_roberta},
                                              {"gpt2", write_gpt2},
                                              {"gpt_neox", write_gpt_neox},
                                              {"llama", write_llama},
                                              {"mistral", write_llama},
                                              {"mixtral", write_llama},
                                              {"qwen2", write_llama},
                                              {"qwen3", write_llama},
                                              {"gemma", write_llama},
                                              {"internlm", write_llama},
                                              {"granite", write_llama},
                                              {"phi3", write_llama},
                                              {"stablelm", write_llama},
                                              {"phi", write_phi},
                                              {"qwen2_moe", write_qwen_moe},
                                              {"qwen3_moe", write_qwen_moe},
                                              {"deepseek_v2", write_deepseek},
                                              {"deepseek_v3", write_deepseek},
                                              {"kimi_k2", write_deepseek},
                                              {"llama4_text", write_llama4},
                                              {"gemma2", write_gemma_windows},
                                              {"gemma3_text", write_gemma_windows},
                                              {"olmo", write_olmo},
                                              {"olmo2", write_olmo},
                                              {"nemotron", write_nemotron},
                                              {"falcon", write_falcon},
                                              {"bloom", write_bloom},
                                              {"mpt", write_mpt},
                                              {"t5", write_t5},
                                              {"vit", write_vit},
                                              {"swin", write_swin},
                                              {"convnext", write_convnext},
                                              {"whisper", write_whisper}};
  return rows;
}

/// The user's number is taken even beyond the config's limit, with a remark.
std::int64_t ConfigSource::tokens(std::int64_t most, std::int64_t usual) const {
  if (options.sequence) {
    if (*options.sequence > most)
      remarks.push_back(
          fmt::format("{} tokens are more than the {} that the config allows", *options.sequence, most));
    return *options.sequence;
  }
  if (most > usual)
    remarks.push_back(
        fmt::format("a sample has {} tokens; the network takes up to {}: --sequence", usual, most));
  return std::min(most, usual);
}

/// A config without num_labels and id2label has two classes, the default of transformers.
std::int64_t ConfigSource::labels() const {
  const auto named = static_cast<std::int64_t>(values.count("id2label"));
  return values.size_or({"num_labels"}, named > 0 ? named : 2);
}

/// A network is trained by a loss, so every model file has one.
std::string loss_without_head(const ConfigSource& source) {
  source.remarks.push_back(fmt::format("{} has no head: a squared error of its result stands for the loss",
                                       quotable(source.architecture)));
  return "  { type = \"loss\", kind = \"mse\" },\n";
}

/// Functions whose kernels cost the same share a layer: quick_gelu is x * sigmoid(1.702 x), as SiLU.
std::string activation_layer(const ConfigSource& source, std::string_view function) {
  static const std::vector<std::pair<std::string_view, std::string_view>> known{
      {"gelu", "gelu"},         {"gelu_pytorch_tanh", "gelu"},
      {"gelu_new", "gelu_new"}, {"gelu_fast", "gelu_new"},
      {"quick_gelu", "silu"},   {"relu", "relu"},
      {"silu", "silu"},         {"swish", "silu"},
      {"tanh", "tanh"},         {"sigmoid", "sigmoid"},
      {"relu2", "squared_relu"}};
  for (const auto& [name, type] : known) {
    if (name == function) return fmt::format("{{ type = \"{}\" }}", type);
  }
  source.remarks.push_back(fmt::format("the activation {} is not known: taken as gelu", quotable(function)));
  return "{ type = \"gelu\" }";
}

/// Either key marks a config; other JSON files of models have neither.
bool is_network_config(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         (text.find("\"model_type\"") != std::string_view::npos ||
          text.find("\"architectures\"") != std::string_view::npos);
}

/// The kind of the config decides between a file of models/families and a writer of this program.
ImportedModel read_network_config(const SourceText& source, const ModelImportOptions& options,
                                  Diagnostics& diagnostics) {
  ImportedModel made;
  const LogJson config = parsed_object(
      source, {"config", kLargestConfig, "config.json as save_pretrained() writes it"}, diagnostics);
  if (!diagnostics.empty()) return made;
  // A file of models/families wins only where no writer exists for the type.
  if (const std::optional<SourceText> family = unknown_to_writers(config)) {
    made.text = fmt::format("# Made by `foretrain model import` of {}, a config of transformers.\n{}",
                            quotable_file(source.name),
                            filled_family(*family, config, options, made.remarks, diagnostics));
    return made;
  }
  const LogJson* part = described_part(config, made.remarks);
  if (part == nullptr) return report_unknown(config, diagnostics), made;
  // The name of the part, where it is one.
  std::vector<std::string> path;
  for (const char* name : kParts)
    if (part == &at(config, name)) path.emplace_back(name);
  ConfigValues values(*part, diagnostics, std::move(path));
  // A part without architectures inherits none from the whole config: those name the multimodal model.
  const ConfigSource from{
      values, text_at(*part, "model_type"),
      architecture_of(part == &config || at(*part, "architectures").is_array() ? *part : LogJson()), options,
      made.remarks};
  // Missing keys are collected while the writer runs and reported at once by finish().
  const std::string text = family_of(from.model_type)->write(from);
  if (!values.finish(from.model_type)) return made;
  made.text = fmt::format("# Made by `foretrain model import` of {}, a config of transformers.\n{}",
                          quotable_file(source.name), text);
  return made;
}

}  // namespace foretrain
