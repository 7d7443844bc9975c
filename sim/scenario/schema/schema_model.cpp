// The model file: input shape, layers, blocks, sizes; or the table [recorded] instead.
//
// Reading has four stages: templates are read with formulas in place of numbers; blocks are checked as a
// whole for cycles and unknown names; blocks are expanded with the numbers of the chosen size; and the layers
// are given to the workload's expand(), which checks that each layer fits its input. Each stage needs the one
// before it without mistakes.
//
// A small model file:
// input = [784]
// layers = [{ type = "linear", out = 10 }, { type = "loss" }]
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/layers/block_expansion.hpp"
#include "sim/scenario/layers/layer_template.hpp"
#include "sim/scenario/schema/schema_recorded.hpp"
#include "sim/scenario/schema/schema_sizes.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/workload/layers/shared_weights.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/lowering/optimizer.hpp"

namespace foretrain {

namespace {

/// Largest extent of an input.
constexpr std::int64_t kLargestSide = 1'000'000'000;

/// Reads one table [blocks.NAME].
Block read_block(const Entry& entry, Diagnostics& diagnostics) {
  Block out;
  out.span = entry.key_span;
  const auto* table = std::get_if<Table>(&entry.value.data);
  if (table == nullptr) {
    diagnostics.report(entry.value.span,
                       fmt::format("blocks.{} must be a table with layers", entry.key.substr(0, 60)));
    return out;
  }
  TableReader reader(*table, "blocks." + entry.key.substr(0, 60), diagnostics);
  // A block is a list of layers; whether its names are known is checked for the whole file.
  out.layers = read_layers(reader, "layers");
  reader.finish();
  return out;
}

/// Reads all tables below [blocks].
Blocks read_blocks(TableReader& document) {
  Blocks blocks;
  const Table* table = document.table("blocks");
  if (table == nullptr) return blocks;
  for (const Entry& entry : table->entries) blocks[entry.key] = read_block(entry, document.diagnostics());
  return blocks;
}

/// The optimizer is a name here; a scenario may replace it.
void read_optimizer(TableReader& document, std::string_view key, Model& model) {
  model.optimizer = document.one_of(key, optimizer_names()).value_or("");
}

/// The contents of a file before its blocks are expanded.
struct ModelTemplates {
  RecordedFile recorded;
  Model model;
  // The shape of an input with formulas; empty if it has only numbers.
  std::vector<Number> input;
  LayerList layers;
  Blocks blocks;
  // Numbers that `$name` means unless a size states others.
  Arguments defaults;
  std::vector<ModelSize> sizes;
};

/// Reads the input's shape, as numbers or as formulas.
void read_input(TableReader& document, std::string_view key, ModelTemplates& file) {
  const Value* value = document.value(key);
  const auto* list = value == nullptr ? nullptr : std::get_if<Array>(&value->data);
  const auto is_text = [](const Value& one) { return std::holds_alternative<std::string>(one.data); };
  if (list != nullptr && std::ranges::any_of(*list, is_text)) {
    // Formulas cannot be computed before the size is chosen.
    file.input = read_numbers(document, key, {1, kLargestSide, 4});
    return;
  }
  const auto input = document.integers(key, 1, kLargestSide, 4);
  if (input && input->empty())
    document.report(document.span_of(key), "input is empty", "write channels, height and width");
  file.model.input = input.value_or(std::vector<std::int64_t>{});
}

/// Computes the input's formulas with the numbers of a size.
void put_input(const std::vector<Number>& input, const Arguments& of_size, Model& model,
               Diagnostics& diagnostics) {
  for (const Number& number : input) {
    bool lost = false;
    const std::int64_t side = number_of(number, of_size, lost).value;
    if (lost || side < 1 || side > kLargestSide)
      diagnostics.report(number.span,
                         fmt::format("\"{}\" is used for input, which must be an integer from 1 to {}",
                                     number.formula, kLargestSide));
    model.input.push_back(side);
  }
}

/// Keys whose value goes straight into the model.
Keys<Model> plain_keys() {
  return {
      {"description", takes::text<&Model::description>(), "\"two layers\"", "none",
       "a line for `foretrain list models`"},
      {"input_needs_gradient", takes::flag<&Model::input_needs_gradient>(), "true", "false",
       "whether the program asks for the gradient of its input (wav2vec 2.0 does): frozen layers in front "
       "then keep what backward reads"},
      {"input_is_tokens", takes::flag<&Model::input_is_tokens>(), "true", "false",
       "input = [length] holds ids"},
      {"samples_per_input", takes::integer<&Model::samples_per_input>(1, kLargestSide), "25", "1",
       "a batch counts parts of an input, as tokens of a sentence"},
      {"optimizer",
       {fmt::format("{}", fmt::join(optimizer_names(), ", ")), read_optimizer},
       "\"adam\"",
       "not said",
       "what it is usually trained with"}};
}

/// A file has either layers or a recorded network; check_kind() reports both.
const Keys<ModelTemplates>& model_file_keys() {
  static const Keys<ModelTemplates> keys =
      keys_within<ModelTemplates>(plain_keys(), [](ModelTemplates& file) -> Model& { return file.model; }) +
      Keys<ModelTemplates>{
          {"input",
           {"list of 1 to 4 integers", read_input},
           "input = [3, 224, 224]",
           "must be given with `layers`",
           "the shape of one sample: [channels, height, width], [channels, depth, height, width], [length, "
           "width] or [features]"},
          {"defaults",
           {"table of integers", [](TableReader& document, std::string_view key,
                                    ModelTemplates& file) { file.defaults = read_defaults(document, key); }},
           "{ heads = 8 }",
           "none",
           "what `$name` stands for in every size that does not say otherwise"},
          {"sizes",
           {"tables", [](TableReader& document, std::string_view key,
                         ModelTemplates& file) { file.sizes = read_sizes(document, key, file.defaults); }},
           "{ tiny = { with = { width = 64 } } }",
           "none",
           "`[sizes.NAME]`: networks of this file by their own names"},
          {"config",
           {"table", [](TableReader& document, std::string_view key,
                        ModelTemplates&) { read_config_of_family(document, key); }},
           "{ model_type = \"modernbert\" }",
           "none",
           "`[config]`: how a config.json describes this network"},
          {"layers",
           {"list of tables",
            [](TableReader& document, std::string_view key, ModelTemplates& file) {
              if (!document.has("recorded") || document.has(key)) file.layers = read_layers(document, key);
            }},
           "layers = [{ type = \"relu\" }]",
           "must be given, or `[recorded]`",
           "the network, the last a loss"},
          {"blocks",
           {"tables", [](TableReader& document, std::string_view,
                         ModelTemplates& file) { file.blocks = read_blocks(document); }},
           "{ gate = { layers = [] } }",
           "none",
           "`[blocks.NAME]` with `layers`: what is put in by name"},
          {"recorded",
           {"table", [](TableReader& document, std::string_view key,
                        ModelTemplates& file) { file.recorded = read_recorded(document, key); }},
           "format = 1",
           "none",
           "`[recorded]`: the network as its framework ran it, instead of `layers`"}};
  return keys;
}

/// Reports each place once: a block that is used many times has the same fault each time.
void report_faults(const std::vector<ModelFault>& faults, Diagnostics& diagnostics) {
  std::set<std::pair<int, int>> seen;
  for (const ModelFault& fault : faults) {
    if (diagnostics.found().size() >= Diagnostics::kMostDiagnostics) return;
    if (seen.insert({fault.span.line, fault.span.column}).second)
      diagnostics.report(fault.span, fault.message, fault.hint);
  }
}

}  // namespace

namespace {

/// Reports keys that only the other kind of file has: layers or [recorded].
void check_kind(TableReader& document) {
  if (!document.has("recorded")) return document.require("input", "input = [3, 224, 224]");
  for (const std::string_view key : {"layers", "blocks", "sizes"}) {
    if (document.has(key))
      document.report(document.span_of(key), fmt::format("a recorded network has no {}", key),
                      "keep [recorded], or write the network layer by layer");
  }
}

/// Makes the model of a recorded network. If it was recorded under autocast, it is expanded twice: for the
/// scenario's precision, and as it was recorded.
ModelFile recorded_model(ModelTemplates&& templates) {
  ModelFile file{std::move(templates.model), {}};
  RecordedNetwork& network = templates.recorded.network;
  network.name = file.model.name;
  if (!file.model.input_is_tokens || file.model.input.size() == 1) network.sample = file.model.input;
  file.model.is_recorded = true;
  if (!network.grows) assume_growth(network);
  const std::optional<MeasuredOn>& measured_on = templates.recorded.measured_on;
  const MeasuredOn* measured = measured_on ? &*measured_on : nullptr;
  // If a batch counts parts of an input, everything that grows with the batch is divided by their number.
  const auto divided = [&](ExpandedModel expanded) {
    if (file.model.samples_per_input > 1) divide_sample(expanded, file.model.samples_per_input);
    return expanded;
  };
  file.expanded = divided(expand_recorded(network, measured));
  if (file.expanded.recording->autocast)
    file.expanded.as_recorded =
        std::make_shared<const ExpandedModel>(divided(expand_as_recorded(network, measured)));
  return file;
}

}  // namespace

/// A file of several sizes is read for one of them (SourceText::part).
ModelFile read_model_file(const SourceText& source, Diagnostics& diagnostics) {
  const Table table = parse_toml(source, diagnostics, kLargestModelText);
  TableReader document(table, "", diagnostics);
  ModelTemplates templates;
  read_keys(document, model_file_keys(), templates);
  check_kind(document);
  document.finish();
  templates.model.name = name_of_file(source.name);
  // A recorded network has neither blocks nor sizes.
  if (document.has("recorded")) {
    if (!diagnostics.empty()) return {std::move(templates.model), {}};
    return recorded_model(std::move(templates));
  }
  ModelFile file{std::move(templates.model), {}};
  // The chosen size gives the parameters' numbers.
  const ModelSize* size = chosen_size(templates.sizes, source);
  const Arguments of_size = size == nullptr ? templates.defaults : size->numbers;
  if (size != nullptr) file.model.name = size->name;
  if (size != nullptr && !size->description.empty()) file.model.description = size->description;
  // Blocks are checked even after other mistakes, so that all are reported together.
  const bool sound = check_blocks(templates.blocks, templates.layers, of_size, diagnostics);
  if (sound && diagnostics.empty()) put_input(templates.input, of_size, file.model, diagnostics);
  // Blocks with mistakes are not expanded, since their layers could be cyclic.
  if (!sound || !diagnostics.empty()) return file;
  file.model.layers = expand_blocks(templates.blocks, templates.layers, of_size, diagnostics);
  if (!diagnostics.empty()) return file;
  // The workload checks whether each layer fits its input.
  ExpansionResult expansion = expand(file.model);
  report_faults(expansion.faults, diagnostics);
  file.expanded = std::move(expansion.model);
  return file;
}

/// The order is that of the page: the file, then sizes and configs, then recorded networks.
std::vector<KeyTable> model_key_tables() {
  std::vector<KeyTable> tables{{"The file", "", described(model_file_keys())}};
  for (KeyTable& table : family_key_tables()) tables.push_back(std::move(table));
  for (KeyTable& table : recorded_key_tables()) tables.push_back(std::move(table));
  return tables;
}

/// The operators are computed for the check of the shapes, and dropped here.
Model read_model(const SourceText& source, Diagnostics& diagnostics) {
  return read_model_file(source, diagnostics).model;
}

}  // namespace foretrain
