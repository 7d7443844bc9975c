// Reader of layers. A layer is read by the keys of its type: a key that neither the type nor all layers have
// is unknown.
#include "sim/scenario/layers/layer_template.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/scenario/layers/parameter_arithmetic.hpp"

namespace foretrain {

namespace {

/// Longest name or formula in bytes, and largest number of a block's arguments.
constexpr std::size_t kLongestTemplateName = 64;
constexpr std::size_t kMostArguments = 64;

/// Returns whether a value is a formula of parameters.
bool is_formula(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  return text != nullptr && text->size() <= kLongestTemplateName && is_arithmetic(*text);
}

/// Reads one of a key's numbers: an integer, a formula of parameters, or "same" (-1). Returns nullopt for
/// other values.
std::optional<Number> read_number(const Value& value, const NumberRange& range) {
  const auto* text = std::get_if<std::string>(&value.data);
  const auto* integer = std::get_if<std::int64_t>(&value.data);
  if (is_formula(value)) return Number{0, *text, value.span};
  if (integer != nullptr && *integer >= range.least && *integer <= range.most)
    // "same" padding is kept as -1.
    return Number{*integer, "", value.span};
  if (range.or_same && text != nullptr && *text == "same") return Number{-1, "", value.span};
  return std::nullopt;
}

}  // namespace

std::vector<Number> read_numbers(TableReader& layer, std::string_view key, const NumberRange& range) {
  const Value* value = layer.value(key);
  if (value == nullptr) return {};
  const auto* list = std::get_if<Array>(&value->data);
  if (list != nullptr && range.longest > 1 && (list->empty() || list->size() > range.longest)) {
    layer.report(value->span, fmt::format("{} takes 1 to {} numbers, not {}", layer.full_name(key),
                                          range.longest, list->size()));
    return {};
  }
  std::vector<Number> numbers;
  // Keys that take one number take no list.
  const bool is_list = list != nullptr && range.longest > 1;
  for (std::size_t i = 0; i < (is_list ? list->size() : 1); ++i) {
    const Value& one = is_list ? (*list)[i] : *value;
    if (auto number = read_number(one, range))
      numbers.push_back(std::move(*number));
    else
      layer.report(one.span, fmt::format("{} must be an integer from {} to {}{}", layer.full_name(key),
                                         range.least, range.most, range.or_same ? ", or \"same\"" : ""));
  }
  return numbers;
}

namespace {

/// Reads a key of the type into the template; numbers wait for a block's parameters. There is one overload
/// for each kind of key.
struct KeyReading {
  TableReader& layer;
  const LayerKey& key;
  LayerTemplate& out;

  void operator()(const LayerNumbers& numbers) const {
    if (key.required) layer.require(key.name, numbers.range.longest > 3 ? "[3, 8, 8]" : "3");
    std::vector<Number> read = read_numbers(layer, key.name, numbers.range);
    if (!read.empty()) out.numbers.push_back({&key, std::move(read)});
  }
  void operator()(const LayerFlag& flag) const {
    // A parameter may decide a flag when the block is expanded.
    const Value* given = layer.value(key.name);
    if (given != nullptr && is_formula(*given))
      return out.flags.push_back({&key, {0, std::get<std::string>(given->data), given->span}});
    bool& value = flag.at(out.layer);
    value = layer.boolean(key.name).value_or(value);
  }
  void operator()(const LayerTime& time) const {
    layer.require(key.name, "\"10 ms\"");
    time.at(out.layer) = layer.time(key.name).value_or(Time{});
  }
  void operator()(const LayerFlops& flops) const {
    if (key.required) layer.require(key.name, "\"1 MFLOP\"");
    flops.at(out.layer) = layer.flops(key.name).value_or(Flops{});
  }
  void operator()(const LayerBytes& bytes) const {
    if (key.required) layer.require(key.name, "\"1 MB\"");
    bytes.at(out.layer) = layer.bytes(key.name).value_or(Bytes{});
  }
  void operator()(const LayerWord& word) const {
    const auto given = layer.one_of(key.name, word.words);
    if (given)
      word.put(out.layer, static_cast<std::size_t>(std::find(word.words.begin(), word.words.end(), *given) -
                                                   word.words.begin()));
  }
};

/// Reads one name; an empty or too long one is reported.
void read_name(TableReader& layer, const Value& value, std::string_view key, std::vector<NameText>& out) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text != nullptr && !text->empty() && text->size() <= kLongestTemplateName && *text != "+")
    return out.push_back({*text, value.span});
  layer.report(value.span, fmt::format("{} must be a name of 1 to {} characters", layer.full_name(key),
                                       kLongestTemplateName));
}

/// Reads one name, or with `most` above one a list of them.
std::vector<NameText> read_names(TableReader& layer, std::string_view key, std::size_t most) {
  std::vector<NameText> names;
  const Value* value = layer.value(key);
  if (value == nullptr) return names;
  const auto* list = std::get_if<Array>(&value->data);
  if (list == nullptr || most == 1) {
    // A list is allowed only where several names make sense.
    read_name(layer, *value, key, names);
  } else if (list->empty() || list->size() > most) {
    layer.report(value->span,
                 fmt::format("{} takes 1 to {} names, not {}", layer.full_name(key), most, list->size()));
  } else {
    for (const Value& one : *list) read_name(layer, one, key, names);
  }
  return names;
}

LayerList read_list(const Array& values, Diagnostics& diagnostics);

/// Reads the branches of a join. They are required unless the join names its operands.
void read_branches(TableReader& layer, LayerTemplate& out) {
  const bool has_names = !out.from.empty() || !out.with.empty();
  if (!has_names) layer.require("branches", "branches = [[…], []]");
  const Array* branches = layer.array("branches", kMostBranches);
  if (branches == nullptr) return;
  for (const Value& branch : *branches) {
    const auto* list = std::get_if<Array>(&branch.data);
    if (list != nullptr)
      out.branches.push_back(read_list(*list, layer.diagnostics()));
    else
      layer.report(branch.span, "a branch must be a list of layers", "an empty list passes the input on");
  }
  if (branches->empty())
    layer.report(layer.span_of("branches"), fmt::format("{} is empty", layer.full_name("branches")));
}

/// Reads the arguments of a block.
void read_arguments(TableReader& layer, LayerTemplate& out) {
  const Table* with = layer.table("with");
  if (with == nullptr) return;
  if (with->entries.size() > kMostArguments) {
    return layer.report(layer.span_of("with"),
                        fmt::format("a block takes at most {} arguments", kMostArguments));
  }
  for (const Entry& entry : with->entries) {
    Number number{0, "", entry.value.span};
    const auto* integer = std::get_if<std::int64_t>(&entry.value.data);
    if (is_formula(entry.value))
      number.formula = std::get<std::string>(entry.value.data);
    else if (integer != nullptr)
      number.value = *integer;
    else
      layer.report(number.span,
                   fmt::format("with.{} must be an integer", entry.key.substr(0, kLongestTemplateName)));
    out.arguments.push_back({entry.key, entry.key_span, std::move(number)});
  }
}

/// Reads the use of a block.
void read_block_use(TableReader& layer, LayerTemplate& out) {
  layer.require("block", "block = \"bottleneck\"");
  out.block = layer.string("block").value_or("");
  out.block_span = layer.span_of("block");
  out.from = read_names(layer, "from", kMostBranches);
  const std::vector<Number> repeat = read_numbers(layer, "repeat", kRepeats);
  if (!repeat.empty()) out.repeat = repeat[0];
  read_arguments(layer, out);
}

/// Reads a layer of a type. Joins have several inputs, and layers with memory one more.
void read_plain_layer(TableReader& layer, const LayerType& type, LayerTemplate& out) {
  const bool joins = type.join != nullptr;
  out.layer.type = &type;
  for (const LayerKey& key : type.keys) std::visit(KeyReading{layer, key, out}, key.value);
  if (type.open == nullptr) out.from = read_names(layer, "from", joins ? kMostBranches : 1);
  if (joins) out.with = read_names(layer, "with", kMostBranches);
  if (type.has_memory) out.with = read_names(layer, "memory", 1);
  if (joins) read_branches(layer, out);
}

/// Reads one layer; nullopt if its type is not known.
std::optional<LayerTemplate> read_layer(const Value& value, Diagnostics& diagnostics) {
  const auto* table = std::get_if<Table>(&value.data);
  if (table == nullptr) {
    if (diagnostics.found().size() < Diagnostics::kMostDiagnostics) {
      diagnostics.report(value.span, "a layer must be a table", "write it as in { type = \"relu\" }");
    }
    return std::nullopt;
  }
  // The type is looked up first, because messages name the layer by it.
  const Entry* entry = table->find("type");
  const auto* word = entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value.data);
  const LayerType* known = word == nullptr ? nullptr : find_layer_type(*word);
  TableReader layer(*table, known != nullptr ? *word : "layer", diagnostics);
  LayerTemplate out;
  out.layer.span = value.span;
  layer.require("type", "type = \"relu\"");
  const auto type = layer.one_of("type", layer_type_names());
  if (!type) return std::nullopt;
  std::string& name = out.layer.name;
  name = layer.string("name").value_or("");
  if (name.size() > kLongestTemplateName)
    layer.report(layer.span_of("name"),
                 fmt::format("a name has at most {} characters", kLongestTemplateName));
  // A word that is no type can only be "block" here.
  if (known == nullptr)
    read_block_use(layer, out);
  else
    read_plain_layer(layer, *known, out);
  out.as = read_names(layer, "as", 1);
  for (NameText& label : read_names(layer, "weights", 1)) out.weights = std::move(label);
  layer.finish();
  // The default name is that of the block or of the type.
  if (name.empty()) name = known == nullptr ? out.block.substr(0, kLongestTemplateName) : *type;
  return out;
}

/// Numbers equal names of a list: "relu", "relu2", "relu3", …
void number_names(LayerList& layers) {
  std::map<std::string, int> seen;
  for (LayerTemplate& layer : layers) {
    const int count = ++seen[layer.layer.name];
    if (count > 1) layer.layer.name += std::to_string(count);
  }
}

LayerList read_list(const Array& values, Diagnostics& diagnostics) {
  LayerList out;
  for (const Value& value : values) {
    if (auto layer = read_layer(value, diagnostics)) out.push_back(std::move(*layer));
  }
  number_names(out);
  return out;
}

}  // namespace

const std::vector<std::string>& layer_type_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names{"block"};
    for (const LayerType& type : layer_types()) names.emplace_back(type.name);
    return names;
  }();
  return kNames;
}

LayerList read_layers(TableReader& table, std::string_view key) {
  table.require(key, "layers = [{ type = \"relu\" }]");
  const Array* values = table.array(key, static_cast<std::size_t>(kMostLayers));
  if (values == nullptr) return {};
  if (values->empty()) table.report(table.span_of(key), fmt::format("{} is empty", table.full_name(key)));
  return read_list(*values, table.diagnostics());
}

}  // namespace foretrain
