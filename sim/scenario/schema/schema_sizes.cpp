// Sizes of a family. A size is read by its keys; its numbers replace the defaults of the file.
// [sizes.small]
// with = { width = 384, layers = 4 }
#include "sim/scenario/schema/schema_sizes.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Upper limits of the names of a size, and of its parameters.
constexpr std::size_t kMostNames = 16;
constexpr std::int64_t kMostParameters = 100'000'000'000'000;

/// Reads a table of integers over the numbers that `out` has already.
void read_arguments_of_size(TableReader& table, std::string_view key, Arguments& out) {
  const Table* with = table.table(key);
  if (with == nullptr) return;
  for (const Entry& entry : with->entries) {
    const auto* integer = std::get_if<std::int64_t>(&entry.value.data);
    if (integer != nullptr)
      out[entry.key] = {*integer, "", entry.value.span};
    else
      table.report(entry.value.span,
                   fmt::format("{}.{} must be an integer", table.full_name(key), entry.key.substr(0, 60)));
  }
}

/// Keys of [sizes.NAME].
const Keys<ModelSize>& size_keys() {
  static const Keys<ModelSize> keys{
      {"description", takes::text<&ModelSize::description>(), "\"the small one\"", "the file's",
       "a line for `foretrain list models`"},
      {"with",
       {"table of integers", [](TableReader& table, std::string_view key,
                                ModelSize& size) { read_arguments_of_size(table, key, size.numbers); }},
       "{ width = 384, layers = 4 }",
       "`defaults`",
       "what `$name` stands for in the layers and blocks of the file"},
      {"also",
       {"list of texts",
        [](TableReader& table, std::string_view key, ModelSize& size) {
          size.also = table.strings(key, kMostNames).value_or(std::vector<std::string>{});
        }},
       "[\"openai/whisper-tiny\"]",
       "none",
       "further names that `--model` takes for it"},
      {"parameters", takes::integer<&ModelSize::published>(1, kMostParameters), "37760640", "not checked",
       "the published number, trained or not, which a test compares"},
      {"source", takes::text<&ModelSize::source>(), "\"transformers 5.24\"", "none",
       "where that number stands"}};
  return keys;
}

/// Reads the keys of a config that hold the numbers of a family.
void read_config_numbers(TableReader& table, std::string_view key, ConfigOfFamily& out) {
  const Table* numbers = table.table(key);
  if (numbers == nullptr) return;
  for (const Entry& entry : numbers->entries) {
    const auto* path = std::get_if<std::string>(&entry.value.data);
    if (path != nullptr && !path->empty())
      out.numbers[entry.key] = *path;
    else
      table.report(entry.value.span, fmt::format("{}.{} must be the name of a key", table.full_name(key),
                                                 entry.key.substr(0, 60)));
  }
}

/// Keys of [config].
const Keys<ConfigOfFamily>& config_keys() {
  static const Keys<ConfigOfFamily> keys{
      {"model_type", takes::text<&ConfigOfFamily::model_type>(), "\"modernbert\"", kRequired,
       "the family's name in a config.json"},
      {"numbers",
       {"table of texts", read_config_numbers},
       "{ width = \"hidden_size\", layers = \"num_hidden_layers\" }",
       "none",
       "by `$name` the key of the config that holds it, as \"vision_config.hidden_size\" or \"depths.0\""}};
  return keys;
}

}  // namespace

/// The defaults have the form of a size's `with`.
Arguments read_defaults(TableReader& document, std::string_view key) {
  Arguments out;
  read_arguments_of_size(document, key, out);
  return out;
}

/// Whether the config's keys exist is known only when a config is read.
ConfigOfFamily read_config_of_family(TableReader& document, std::string_view key) {
  ConfigOfFamily out;
  const Table* table = document.table(key);
  if (table == nullptr) return out;
  TableReader reader(*table, std::string(key), document.diagnostics());
  read_keys(reader, config_keys(), out);
  reader.finish();
  return out;
}

/// A size's numbers begin as the defaults, and its table replaces some of them.
std::vector<ModelSize> read_sizes(TableReader& document, std::string_view key, const Arguments& defaults) {
  std::vector<ModelSize> out;
  const Table* table = document.table(key);
  if (table == nullptr) return out;
  for (const Entry& entry : table->entries) {
    const auto* one = std::get_if<Table>(&entry.value.data);
    if (one == nullptr) {
      document.report(entry.value.span, fmt::format("sizes.{} must be a table", entry.key.substr(0, 60)));
      continue;
    }
    TableReader reader(*one, "sizes." + entry.key.substr(0, 60), document.diagnostics());
    ModelSize size;
    size.name = entry.key, size.span = entry.key_span, size.numbers = defaults;
    read_keys(reader, size_keys(), size);
    reader.finish();
    out.push_back(std::move(size));
  }
  return out;
}

/// An unknown name gives the first size, too.
const ModelSize* chosen_size(const std::vector<ModelSize>& sizes, const SourceText& source) {
  if (sizes.empty()) return nullptr;
  const auto found = std::ranges::find(sizes, source.part, &ModelSize::name);
  return found == sizes.end() ? &sizes.front() : &*found;
}

/// Both tables belong to files of families.
std::vector<KeyTable> family_key_tables() {
  return {{"`[sizes.NAME]`",
           "A size of the network under a name of its own; a file with sizes stands in `models/families`.",
           described(size_keys())},
          {"`[config]`", "How a config.json of transformers describes a network of this family.",
           described(config_keys())}};
}

}  // namespace foretrain
