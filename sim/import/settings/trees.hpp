// Texts of several kinds as one kind of tree, in which every value knows its place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/import/settings/settings.hpp"

namespace foretrain {

/// Deepest nesting of JSON and of calls in Python.
inline constexpr int kDeepestSettings = 64;

/// JSON, with what hjson allows besides: comments (#, //, /* */), commas before a closing bracket, keys
/// without quotes. A key that stands twice is a mistake. Stops at the first mistake.
YamlNode read_json_tree(const SourceText& source, Diagnostics& diagnostics);

/// TOML, by the scenario's reader.
YamlNode read_toml_tree(const SourceText& source, Diagnostics& diagnostics);

/// NAME=value lines, with `export ` before them or not; a flat tree.
YamlNode read_environment_tree(const SourceText& source);

/// Words of a command line: --name value, --name=value, --flag; a flat tree of names without dashes, '_' for
/// '-'. Words before the first option are left aside.
YamlNode tree_of_words(const std::vector<ShellWord>& words);
YamlNode read_argument_tree(const SourceText& source);

/// Calls of a Python text whose last name is one of `names`: each an entry with that name, its keyword
/// arguments below. Nothing is run: strings, numbers, lists, tuples, tables and calls are values (a call has
/// `class_path` and `init_args`), dotted names are texts without what stands before the last dot; everything
/// else is not known, which its text says. Arguments that the program declares with argparse are those of
/// `words`, which stand behind the program's name (nullptr: none), else their defaults. Three entries more:
/// `network`, a list of the names by which networks are made; `tokenizer`, the arguments of the first call
/// that cuts texts; `data_set`.
YamlNode read_python_calls(const SourceText& source, const std::vector<std::string_view>& names,
                           const std::vector<ShellWord>* words = nullptr);
/// The same, and assignments to members, as config.model.degree = 4, as entries with their whole names.
YamlNode read_python_members(const SourceText& source, const std::vector<std::string_view>& names);
/// Whether a Python text is a recipe of a layout: NeMo 2, Megatron-Bridge, torchtitan.
bool is_python_recipe(std::string_view text);
/// Its calls and assignments as the tables that the tool's own YAML or TOML has. What several recipes of a
/// text say differently is not known.
YamlNode read_python_recipe(const SourceText& source);
/// The text of a value that no one knows before the program runs.
inline constexpr std::string_view kNotKnown = "(not known before the program runs)";

}  // namespace foretrain
