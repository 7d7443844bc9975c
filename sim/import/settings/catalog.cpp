// Decides which format a settings file has, and reads it.
//
// The kind of text (JSON, environment, command line, Python, TOML, YAML) decides how it becomes a tree. The
// keys of the tree decide the format. Formats are tried in the order of the table: marks that stand in one
// format alone come first. All readers work on the same kind of tree, so a format may come as YAML, as JSON
// or as arguments.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/settings/fine_tuning_keys.hpp"
#include "sim/import/settings/readers.hpp"
#include "sim/import/settings/trees.hpp"

namespace foretrain {

namespace {

/// Names all formats, for the message about a file that none recognises.
std::string known_settings() {
  std::string out = "known:";
  for (const SettingsFormat& format : settings_formats())
    out += fmt::format("{} {}", &format == &settings_formats().front() ? "" : ",", format.name);
  return out;
}

/// Returns the first line that is neither empty nor a comment.
std::string_view first_line(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty() && line[0] != '#') return line;
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return {};
}

/// Returns whether a line sets a variable of the environment: `export …`, or a name in capitals before '='.
bool is_variable_line(std::string_view line) {
  if (line.starts_with("export ")) return true;
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  return std::ranges::all_of(line.substr(0, equals), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Returns whether a line is TOML: a table's heading, or '=' before any ':'. A bracket before '=' is a call
/// in Python.
bool is_toml_line(std::string_view line) {
  if (line.starts_with("["))
    return line.find(']') != std::string_view::npos && line.find(',') == std::string_view::npos;
  const std::size_t equals = line.find('='), colon = line.find(':');
  return equals != std::string_view::npos && (colon == std::string_view::npos || equals < colon) &&
         line.substr(0, equals).find('(') == std::string_view::npos;
}

/// Returns whether a text is Python: its first line begins so, or a call that sets up a training stands in
/// it.
bool is_python_text(std::string_view text, std::string_view line) {
  if (line.starts_with("import ") || line.starts_with("from ") || line.starts_with("def ") ||
      line.starts_with("class ") || line.starts_with("\"\"\"") || line.starts_with("@"))
    return true;
  return std::ranges::any_of(python_call_names(), [&](std::string_view name) {
    const std::size_t at = text.find(fmt::format("{}(", name));
    return at != std::string_view::npos;
  });
}

/// Returns whether a text makes a network of Ultralytics; its train() is a call to read then.
bool has_ultralytics_call(std::string_view text) {
  return text.find("YOLO(") != std::string_view::npos || text.find("RTDETR(") != std::string_view::npos;
}

/// Returns whether any format recognises the keys.
bool is_known(const YamlNode& tree) {
  return tree.kind == YamlNode::Kind::map &&
         std::ranges::any_of(settings_formats(),
                             [&](const SettingsFormat& format) { return format.recognises(tree); });
}

/// Turns a text into a tree by the kind of its first line. `words` are the arguments of a Python program.
YamlNode tree_of_text(const SourceText& source, Diagnostics& diagnostics,
                      const std::vector<ShellWord>* words) {
  // The order of the tests matters: each excludes what the later readers would misread.
  const std::string_view line = first_line(source.text);
  if (line.starts_with("{") || line.starts_with("//") || line.starts_with("/*"))
    return read_json_tree(source, diagnostics);
  if (is_variable_line(line)) return read_environment_tree(source);
  if (line.starts_with("--") && line.size() > 2 && line[2] != '-' && line[2] != ' ')
    return read_argument_tree(source);
  if (is_python_text(source.text, line)) {
    // The words that mark a recipe may stand in a comment, so its tree must be one of a known format.
    if (YamlNode recipe; is_python_recipe(source.text))
      if (recipe = read_python_recipe(source); is_known(recipe)) return recipe;
    return read_python_calls(
        source, has_ultralytics_call(source.text) ? ultralytics_call_names() : python_call_names(), words);
  }
  // TOML before YAML: nearly every text is some YAML.
  if (is_toml_line(line)) return read_toml_tree(source, diagnostics);
  const auto documents = read_yaml(source, {kLargestSettings, 4 * kMostSettings});
  return documents.empty() ? YamlNode{} : documents.front();
}

/// Throws InputError with the mistakes of the text.
YamlNode tree_or_throw(const SourceText& source, const std::vector<ShellWord>* words) {
  Diagnostics diagnostics(source);
  YamlNode tree = tree_of_text(source, diagnostics, words);
  diagnostics.throw_if_any();
  return tree;
}

}  // namespace

/// A format in Python comes first, because the names of its calls stand in no other tree.
const std::vector<SettingsFormat>& settings_formats() {
  static const std::vector<SettingsFormat> rows{
      {"calls in Python",
       "Trainer, Fabric, DistributedDataParallel, FSDP, TrainingArguments, Accelerator; read, "
       "never run",
       is_python_program, read_python_program},
      // Fine-tuning tools with marks of their own.
      {"PEFT adapter_config.json", "rank, target modules, modules trained as a whole", is_adapter_config,
       read_adapter_config},
      {"torchtune YAML", "model, dtype, optimizer, loss of a recipe", is_torchtune, read_torchtune},
      {"litgpt YAML", "lora_…, quantize, precision, train", is_litgpt, read_litgpt_settings},
      // Recipes of large models, by their sections.
      {"Primus YAML", "modules.pre_trainer.overrides", is_primus, read_primus},
      {"NeMo YAML", "model and trainer with Megatron-LM's degrees", is_nemo, read_nemo},
      {"Megatron-Bridge", "model, train, ddp, as YAML or Python", is_megatron_bridge, read_megatron_bridge},
      {"GPT-NeoX YAML", "pipe_parallel_size, model_parallel_size, zero_optimization", is_gpt_neox,
       read_gpt_neox},
      {"LLM-Foundry and OLMo YAML", "device_train_microbatch_size, fsdp_config", is_llm_foundry,
       read_llm_foundry},
      {"MaxText", "per_device_batch_size, ici_…_parallelism, remat_policy", is_maxtext, read_maxtext},
      {"nanotron YAML", "parallelism, tokens, optimizer", is_nanotron, read_nanotron},
      {"torchtitan TOML", "training, parallelism, compile", is_torchtitan, read_torchtitan},
      // Libraries of training loops; Megatron-LM's arguments come behind the tools that share their names.
      {"Ultralytics", "args.yaml, or the words of a yolo command", is_ultralytics, read_ultralytics},
      {"Lightning", "the Trainer's arguments, also below trainer: of LightningCLI", is_lightning,
       read_lightning},
      {"axolotl YAML", "base_model, micro_batch_size, fsdp, deepspeed", is_axolotl, read_axolotl},
      {"Hugging Face TrainingArguments", "as a file or on a command line", is_huggingface, read_huggingface},
      {"Megatron-LM arguments", "a command line or YAML", is_megatron, read_megatron},
      {"accelerate YAML", "with fsdp_config, deepspeed_config, megatron_lm_config", is_accelerate,
       read_accelerate},
      // Configurations of single libraries.
      {"FSDP table", "what Hugging Face calls fsdp_config, by itself", is_fsdp_config, read_fsdp_config},
      {"DeepSpeed JSON", "with comments too", is_deepspeed, read_deepspeed},
      {"horovodrun", "its YAML of --config-file", is_horovodrun, read_horovodrun},
      {"environment", "variables of Horovod, NCCL, BytePS, TensorFlow", is_environment, read_environment}};
  return rows;
}

/// Mistakes of all keys are thrown together, after the reader has seen all of them.
TrainingSettings read_settings_tree(const SourceText& source, const YamlNode& tree,
                                    const SettingsFormat& format, const SettingsContext& context) {
  TrainingSettings out;
  out.file = source.name, out.format = format.name;
  Diagnostics diagnostics(source);
  SettingsReading reading(tree, diagnostics, context, out);
  if (diagnostics.empty()) format.read(reading);
  reading.finish();
  diagnostics.throw_if_any();
  return out;
}

/// Text with a zero byte is a binary file.
bool is_settings(const SourceText& source) {
  if (source.text.size() > kLargestSettings || source.text.find('\0') != std::string::npos) return false;
  try {
    const YamlNode tree = tree_or_throw(source, nullptr);
    return is_known(tree);
  } catch (const InputError&) {
    return false;
  }
}

/// The size is checked before anything is parsed, so a huge file costs nothing.
TrainingSettings read_settings(const SourceText& source, const SettingsContext& context) {
  if (source.text.size() > kLargestSettings)
    throw InputError(std::vector<Diagnostic>{
        {source.name,
         {},
         "",
         fmt::format("has {} bytes; settings of at most {} are read", source.text.size(), kLargestSettings),
         ""}});
  if (source.text.find('\0') != std::string::npos)
    throw InputError(std::vector<Diagnostic>{{source.name, {}, "", "is no text", known_settings()}});
  const YamlNode tree = tree_or_throw(source, context.words);
  for (const SettingsFormat& format : settings_formats()) {
    if (tree.kind == YamlNode::Kind::map && format.recognises(tree))
      return read_settings_tree(source, tree, format, context);
  }
  throw InputError(std::vector<Diagnostic>{
      {source.name, {}, "", "these are no training settings that are known", known_settings()}});
}

/// The words of a command line have no file, so `source` is the job script, for messages.
std::optional<TrainingSettings> read_settings_of_words(const SourceText& source,
                                                       const std::vector<ShellWord>& words,
                                                       const SettingsContext& context) {
  const YamlNode tree = tree_of_words(words);
  // Only some formats exist as a command line. A comparison of the functions names them.
  for (const SettingsFormat& format : settings_formats()) {
    const bool has_arguments = format.recognises == is_megatron || format.recognises == is_huggingface ||
                               format.recognises == is_lightning;
    if (has_arguments && format.recognises(tree)) return read_settings_tree(source, tree, format, context);
  }
  return std::nullopt;
}

}  // namespace foretrain
