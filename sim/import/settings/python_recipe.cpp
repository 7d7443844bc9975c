// Turns recipes in Python (NeMo 2, Megatron-Bridge, torchtitan) into the tables that the tools' own YAML or
// TOML has, so that one reader serves both. Recipes are read, never run.
//
//   cfg.model.tensor_model_parallel_size = 4          (an assignment: model: {tensor_model_parallel_size: 4})
//   MegatronStrategy(pipeline_model_parallel_size=2)  (a call: {pipeline_model_parallel_size: 2})
#include <algorithm>
#include <array>

#include "sim/import/settings/trees.hpp"

namespace foretrain {

namespace {

/// Calls whose keyword arguments are settings of a layout.
const std::vector<std::string_view>& recipe_calls() {
  static const std::vector<std::string_view> kNames{"MegatronStrategy",
                                                    "Config",
                                                    "Partial",
                                                    "ConfigContainer",
                                                    "TrainingConfig",
                                                    "ParallelismConfig",
                                                    "ActivationCheckpointConfig",
                                                    "DistributedDataParallelConfig",
                                                    "MockDataModule",
                                                    "PreTrainingDataModule",
                                                    "GPTDatasetConfig",
                                                    "MockGPTDatasetConfig"};
  return kNames;
}

/// Returns the table for calls that stand by themselves in Python and are a table in the configuration; empty
/// for others.
std::string_view table_of(std::string_view call) {
  if (call == "ParallelismConfig") return "parallelism";
  return call == "ActivationCheckpointConfig" ? "activation_checkpoint" : "";
}

/// Returns nested calls as tables: key=Class(a=1) becomes key: {a: 1}.
YamlNode plain(const YamlNode& node) {
  if (node.kind != SettingKind::map) return node;
  if (!node.at("class_path").is_null()) return plain(node.at("init_args"));
  YamlNode out = node;
  for (auto& [key, value] : out.entries) value = plain(value);
  return out;
}

/// Puts a value at a path, and makes the tables above it. Two different values for one key make it unknown,
/// because only the run can choose between them.
void put(YamlNode& tree, std::string_view path, const YamlNode& value) {
  const std::size_t dot = path.find('.');
  const std::string key(path.substr(0, dot));
  const auto found = std::ranges::find(tree.entries, key, &std::pair<std::string, YamlNode>::first);
  if (found == tree.entries.end() && tree.entries.size() >= kMostSettings) return;
  // A path goes through tables, which are made where they are missing.
  if (dot != std::string_view::npos) {
    if (found == tree.entries.end()) {
      tree.entries.emplace_back(key, YamlNode{SettingKind::map, {}, {}, {}, value.span});
      return put(tree.entries.back().second, path.substr(dot + 1), value);
    }
    if (found->second.kind != SettingKind::map) found->second = {SettingKind::map, {}, {}, {}, value.span};
    return put(found->second, path.substr(dot + 1), value);
  }
  if (found == tree.entries.end()) return tree.entries.emplace_back(key, value), void();
  YamlNode& known = found->second;
  // Two tables for one key are merged.
  if (known.kind == SettingKind::map && value.kind == SettingKind::map) {
    for (const auto& [name, below] : value.entries) put(known, name, below);
    return;
  }
  if (known.kind == value.kind && known.text == value.text) return;
  known = {SettingKind::scalar, std::string(kNotKnown), {}, {}, value.span};
}

}  // namespace

/// Words that stand in recipes of a layout only.
bool is_python_recipe(std::string_view text) {
  constexpr std::array<std::string_view, 4> kMarks{"tensor_model_parallel_size",
                                                   "pipeline_model_parallel_size", "ParallelismConfig(",
                                                   "tensor_parallel_degree"};
  return std::ranges::any_of(
      kMarks, [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; });
}

/// Assignments and calls go into one tree, in the order of the text.
YamlNode read_python_recipe(const SourceText& source) {
  const YamlNode calls = read_python_members(source, recipe_calls());
  YamlNode tree{SettingKind::map, {}, {}, {}, {1, 1, 1}};
  for (const auto& [name, value] : calls.entries) {
    const std::size_t dot = name.find('.');
    if (dot != std::string::npos) {
      // Members of `self` belong to a class of the tool, not to the recipe.
      if (!name.starts_with("self.")) put(tree, std::string_view(name).substr(dot + 1), plain(value));
      continue;
    }
    // A call that is a table of its own, then calls whose arguments stand at the top.
    const std::string_view table = table_of(name);
    if (!table.empty()) {
      put(tree, table, plain(value));
      continue;
    }
    for (const auto& [key, given] : value.entries) put(tree, key, plain(given));
  }
  return tree;
}

}  // namespace foretrain
