// Turns TOML, lines of an environment, and words of a command line into trees of settings. All kinds of text
// become one kind of tree, so each format needs one reader only.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/settings/trees.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Returns a TOML value as a node; numbers become their text.
YamlNode tree_of(const Value& value) {
  YamlNode out{SettingKind::scalar, {}, {}, {}, value.span};
  if (const auto* flag = std::get_if<bool>(&value.data)) out.text = *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) out.text = std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value.data)) out.text = fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&value.data)) out.text = *text;
  if (std::holds_alternative<std::monostate>(value.data)) out.kind = SettingKind::null;
  if (const auto* array = std::get_if<Array>(&value.data)) {
    out.kind = SettingKind::list;
    for (const Value& item : *array) out.items.push_back(tree_of(item));
  }
  if (const auto* table = std::get_if<Table>(&value.data)) {
    out.kind = SettingKind::map;
    for (const Entry& entry : table->entries) out.entries.emplace_back(entry.key, tree_of(entry.value));
  }
  return out;
}

/// Returns the name of an option: "learning_rate" for "--learning-rate=1e-4".
std::string option_name(std::string_view word) {
  std::string name(word.substr(0, word.find('=')));
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Returns whether a word begins an option; "-3" is a value.
bool begins_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9') && word[1] != '.';
}

/// Returns a node for a text; null and None are no value.
YamlNode scalar(std::string text, const SourceSpan& span) {
  const bool is_null = text == "null" || text == "None";
  return {is_null ? SettingKind::null : SettingKind::scalar, std::move(text), {}, {}, span};
}

/// Puts a value into a table. A later value of a key replaces an earlier one.
void put(YamlNode& map, std::string key, YamlNode value) {
  if (key.empty() || map.entries.size() > kMostSettings) return;
  std::erase_if(map.entries, [&](const auto& entry) { return entry.first == key; });
  map.entries.emplace_back(std::move(key), std::move(value));
}

}  // namespace

YamlNode read_toml_tree(const SourceText& source, Diagnostics& diagnostics) {
  return tree_of({parse_toml(source, diagnostics), {1, 1, 1}});
}

/// Lines that set no variable are skipped, so the reader takes scripts as well.
YamlNode read_environment_tree(const SourceText& source) {
  YamlNode out{SettingKind::map, {}, {}, {}, {1, 1, 1}};
  int number = 0;
  std::string_view rest = source.text;
  while (!rest.empty() && out.entries.size() <= kMostSettings) {
    const std::size_t end = rest.find('\n');
    const std::string_view whole = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    ++number;
    // `whole` stays, because columns count in it.
    std::string_view line = trimmed(whole);
    if (line.starts_with("export ")) line = trimmed(line.substr(7));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || line.starts_with("#")) continue;
    std::string_view value = trimmed(line.substr(equals + 1));
    // A value in quotes may hold blanks; one without ends at a blank or comment.
    const bool quoted = value.size() > 1 && (value[0] == '"' || value[0] == '\'');
    if (const std::size_t last = quoted ? value.find(value[0], 1) : value.find_first_of(" \t#;");
        last != std::string_view::npos)
      value = value.substr(quoted ? 1 : 0, quoted ? last - 1 : last);
    const int column = static_cast<int>(line.data() - whole.data()) + 1;
    put(out, std::string(trimmed(line.substr(0, equals))),
        scalar(std::string(value), {number, column, static_cast<int>(equals)}));
  }
  return out;
}

/// Words whose value a shell variable hides are kNotKnown.
YamlNode tree_of_words(const std::vector<ShellWord>& words) {
  YamlNode out{SettingKind::map, {}, {}, {}, {1, 1, 1}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const ShellWord& word = words[i];
    if (!begins_option(word.text)) continue;
    // --name=value has its value in the same word.
    const std::size_t equals = word.text.find('=');
    if (equals != std::string::npos) {
      put(out, option_name(word.text),
          scalar(word.known ? word.text.substr(equals + 1) : std::string(kNotKnown), word.span));
      continue;
    }
    // An option takes all words up to the next one, as argparse does with nargs.
    std::vector<YamlNode> values;
    while (i + 1 < words.size() && !begins_option(words[i + 1].text)) {
      ++i;
      values.push_back(scalar(words[i].known ? words[i].text : std::string(kNotKnown), word.span));
    }
    YamlNode value = values.empty()       ? scalar("true", word.span)
                     : values.size() == 1 ? values.front()
                                          : YamlNode{SettingKind::list, {}, {}, values, word.span};
    put(out, option_name(word.text), std::move(value));
  }
  return out;
}

/// The text is cut like a shell command, because it may have quotes, comments and line breaks.
YamlNode read_argument_tree(const SourceText& source) {
  ShellValues values;
  std::vector<ShellWord> words;
  for (const ShellCommand& command : read_commands(source.text, values)) {
    for (const ShellWord& word : command.words) words.push_back(word);
  }
  return tree_of_words(words);
}

}  // namespace foretrain
