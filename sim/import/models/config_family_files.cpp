// Makes a network of a config by a file of models/families: its text up to the tables of sizes, with the
// config's numbers as its defaults.
//
// The family's file is edited as text, line by line, because its blocks may use every feature of the schema.
// Only the line of defaults is replaced, and the tables that follow the blocks are cut.
#include "sim/import/models/config_family_files.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/model_families.hpp"
#include "sim/scenario/schema/schema_sizes.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

// Marks in a family's text: the line of defaults, the first block, and the tables behind the blocks.
constexpr std::string_view kDefaults = "defaults = {", kTables = "[blocks.", kLast = "[config]",
                           kSizes = "[sizes.";
/// Largest number that a config may give.
constexpr std::int64_t kLargestConfigNumber = 1'000'000'000;

/// The two tables of a family's file that this reader needs.
struct ReadFamily {
  ConfigOfFamily config;
  Arguments defaults;
};

/// Reads the tables [config] and defaults. Faults are ignored here: the catalog's own files are checked when
/// they are used as models.
ReadFamily read_family(const SourceText& family) {
  Diagnostics diagnostics(family);
  const Table table = parse_toml(family, diagnostics, kLargestModelText);
  TableReader document(table, "", diagnostics);
  return {read_config_of_family(document, "config"), read_defaults(document, "defaults")};
}

/// Returns the value at a path such as "vision_config.hidden_size" or "depths.0"; nullptr where there is
/// none.
const LogJson* value_at(const LogJson& config, std::string_view path) {
  const LogJson* found = &config;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    const std::string key(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
    std::size_t index = 0;
    // A part of the path that is no number reads as index 0; it matters only where the value is a list.
    std::from_chars(key.data(), key.data() + key.size(), index);
    if (found->is_array())
      found = index < found->size() ? &(*found)[index] : nullptr;
    else
      found = &at(*found, key.c_str());
    if (found == nullptr || found->is_null()) return nullptr;
  }
  return found;
}

/// Returns a whole number of the config; true and false count as 1 and 0. Nothing for other values.
std::optional<std::int64_t> number_in(const LogJson& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (!value.is_number_integer()) return std::nullopt;
  const auto number = value.get<double>();
  if (number < 0 || number > static_cast<double>(kLargestConfigNumber)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

/// Puts what the user says of a sample, where the family has a number for it; otherwise adds a remark.
void put_option(std::string_view name, const std::optional<std::int64_t>& said, std::string_view option,
                Arguments& numbers, std::vector<std::string>& remarks) {
  if (!said) return;
  const auto found = numbers.find(name);
  if (found != numbers.end())
    found->second.value = *said;
  else
    remarks.push_back(fmt::format("{} has no effect: a sample of this family has one size", option));
}

/// Returns the line "defaults = { … }" of these numbers.
std::string line_of_defaults(const Arguments& numbers) {
  std::string line(kDefaults);
  for (const auto& [name, number] : numbers)
    line += fmt::format("{} {} = {}", line.ends_with('{') ? "" : ",", name, number.value);
  return line + " }\n";
}

/// Returns the family's text up to the line that begins with `end`, with these numbers as its defaults.
std::string text_with(const SourceText& family, std::string_view end, const Arguments& numbers) {
  std::string text = family.text.substr(0, family.text.find(fmt::format("\n{}", end)));
  if (const std::size_t old = text.find(fmt::format("\n{}", kDefaults)); old != std::string::npos)
    text.erase(old + 1, text.find('\n', old + 1) - old);
  text.insert(text.find(kTables), line_of_defaults(numbers) + "\n");
  return text;
}

}  // namespace

/// Each file of a family is read until one fits; a file that may not be read is passed over.
std::optional<SourceText> family_for_config(std::string_view model_type) {
  for (const std::string& path : family_files(catalog_roots())) {
    if (!text_file_refusal(path).empty()) continue;
    SourceText family = read_text_file(path);
    if (!model_type.empty() && read_family(family).config.model_type == model_type) return family;
  }
  return std::nullopt;
}

/// Several families may describe one type, so repetitions are dropped.
std::vector<std::string> config_types_of_families() {
  std::vector<std::string> types;
  for (const std::string& path : family_files(catalog_roots())) {
    if (!text_file_refusal(path).empty()) continue;
    const std::string type = read_family(read_text_file(path)).config.model_type;
    if (!type.empty()) types.push_back(type);
  }
  std::ranges::sort(types);
  types.erase(std::unique(types.begin(), types.end()), types.end());
  return types;
}

/// A number of the config wins over the family's default; an option of the user wins over both.
std::string filled_family(const SourceText& family, const LogJson& config, const ModelImportOptions& options,
                          std::vector<std::string>& remarks, Diagnostics& diagnostics) {
  const ReadFamily read = read_family(family);
  Arguments numbers = read.defaults;
  std::vector<std::string> missing;
  for (const auto& [name, path] : read.config.numbers) {
    const LogJson* value = value_at(config, path);
    const std::optional<std::int64_t> number = value == nullptr ? std::nullopt : number_in(*value);
    if (number)
      numbers[name] = {*number, "", {}};
    else if (value != nullptr)
      diagnostics.report({},
                         fmt::format("{} must be a whole number from 0 to {}", path, kLargestConfigNumber));
    else if (!numbers.contains(name))
      missing.push_back(path);
  }
  if (!missing.empty())
    diagnostics.report(
        {}, fmt::format("a config of {} needs {}", read.config.model_type, fmt::join(missing, ", ")),
        fmt::format("add {} to the file", missing.size() == 1 ? "it" : "them"));
  put_option("side", options.image, "--image", numbers, remarks);
  put_option("tokens", options.sequence, "--sequence", numbers, remarks);
  return text_with(family, kLast, numbers);
}

/// Reads the family again with the size that the name chooses, because a size may override any default.
std::optional<std::string> family_of_side(const std::string& name, std::int64_t side) {
  const std::optional<FamilySize> size = find_family_size(catalog_roots(), name);
  if (!size || !text_file_refusal(size->path).empty()) return std::nullopt;
  SourceText family = read_text_file(size->path);
  Diagnostics diagnostics(family);
  const Table table = parse_toml(family, diagnostics, kLargestModelText);
  TableReader document(table, "", diagnostics);
  const std::vector<ModelSize> sizes = read_sizes(document, "sizes", read_defaults(document, "defaults"));
  family.part = size->name;
  const ModelSize* chosen = chosen_size(sizes, family);
  if (chosen == nullptr || !chosen->numbers.contains("side") || !diagnostics.empty()) return std::nullopt;
  Arguments numbers = chosen->numbers;
  numbers["side"].value = side;
  return text_with(family, kSizes, numbers);
}

}  // namespace foretrain
