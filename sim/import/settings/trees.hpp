// Declares how texts of several kinds become one kind of tree, in which every value knows its place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/import/settings/settings.hpp"

namespace foretrain {

/// Deepest nesting of JSON, and of calls in Python.
inline constexpr int kDeepestSettings = 64;

/// Reads JSON, and what hjson allows besides: comments (#, //, /* */), commas before a closing bracket, keys
/// without quotes. A key that stands twice is a mistake. Reports the first mistake and stops there.
YamlNode read_json_tree(const SourceText& source, Diagnostics& diagnostics);

/// Reads TOML with the scenario's reader; mistakes go to the diagnostics.
YamlNode read_toml_tree(const SourceText& source, Diagnostics& diagnostics);

/// Reads lines NAME=value, with `export ` in front or not, into a flat tree. Other lines are skipped.
YamlNode read_environment_tree(const SourceText& source);

/// Returns the words of a command line as a flat tree: --name value, --name=value, --flag. Names have no
/// dashes in front and '_' for '-' inside. Words before the first option are skipped.
YamlNode tree_of_words(const std::vector<ShellWord>& words);
/// Reads the text of a command line in the same way.
YamlNode read_argument_tree(const SourceText& source);

/// Reads the calls of a Python text whose last name is one of `names`. Each becomes an entry of that name
/// with its keyword arguments below.
///
/// Nothing is run. Strings, numbers, lists, tuples, tables and calls are values; a call has `class_path` and
/// `init_args`. A dotted name is the text behind its last dot. Everything else is kNotKnown. Arguments that
/// the program declares with argparse have the values in `words`, which stand behind the program's name
/// (nullptr: none), otherwise their defaults.
///
/// Three more entries may be there: `network`, a list of the names by which networks are made; `tokenizer`,
/// the arguments of the first call that cuts texts; `data_set`.
YamlNode read_python_calls(const SourceText& source, const std::vector<std::string_view>& names,
                           const std::vector<ShellWord>* words = nullptr);
/// Reads the same, and assignments to members, such as config.model.degree = 4, as entries with their whole
/// names.
YamlNode read_python_members(const SourceText& source, const std::vector<std::string_view>& names);
/// Returns whether a Python text is a recipe of a layout: NeMo 2, Megatron-Bridge, torchtitan.
bool is_python_recipe(std::string_view text);
/// Returns the recipe's calls and assignments as the tables that the tool's own YAML or TOML has. A key that
/// several recipes of a text set differently is kNotKnown.
YamlNode read_python_recipe(const SourceText& source);
/// The text of a value that is only known when the program runs.
inline constexpr std::string_view kNotKnown = "(not known before the program runs)";

}  // namespace foretrain
