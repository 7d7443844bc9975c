// One row per layer type says which keys it takes; whatever else stands in the layer is an unknown key.
#include "sim/scenario/layer_template.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/names.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kMostArguments = 64;

/// One integer key of a layer type: required, or with its default.
struct FieldRule {
  LayerField field;
  bool required = false;
  std::int64_t standard = 0;
};

struct TypeRule {
  std::string_view name;
  LayerType type;
  std::vector<FieldRule> fields;
  bool has_bias = false, has_inplace = false, has_branches = false;
};

const std::vector<TypeRule>& type_rules() {
  using F = LayerField;
  static const std::vector<FieldRule> kNone, kOut{{F::out, true}}, kPool{{F::kernel, true}, {F::stride}, {F::padding}};
  static const std::vector<TypeRule> kRules{
      {"conv2d",
       LayerType::conv2d,
       {{F::out, true}, {F::kernel, true}, {F::stride, false, 1}, {F::padding}, {F::dilation, false, 1}, {F::groups, false, 1}},
       true},
      {"batch_norm", LayerType::batch_norm, kNone},
      {"linear", LayerType::linear, kOut, true},
      {"max_pool", LayerType::max_pool, kPool},
      {"avg_pool", LayerType::avg_pool, kPool},
      {"adaptive_avg_pool", LayerType::adaptive_avg_pool, {{F::out, false, 1}}},
      {"relu", LayerType::relu, kNone, false, true},
      {"gelu", LayerType::gelu, kNone, false, true},
      {"tanh", LayerType::tanh, kNone, false, true},
      {"sigmoid", LayerType::sigmoid, kNone, false, true},
      {"softmax", LayerType::softmax, kNone, false, true},
      {"flatten", LayerType::flatten, kNone},
      {"add", LayerType::add, kNone, false, false, true},
      {"concat", LayerType::concat, kNone, false, false, true},
      {"embedding", LayerType::embedding, {{F::entries, true}, {F::out, true}}},
      {"attention", LayerType::attention, {{F::heads, true}}, true},
      {"layer_norm", LayerType::layer_norm, kNone},
      {"dropout", LayerType::dropout, kNone},
      {"loss", LayerType::loss, kNone}};
  return kRules;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names{"block"};
  for (const TypeRule& rule : type_rules()) names.emplace_back(rule.name);
  return names;
}

bool is_parameter(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  return text != nullptr && text->size() > 1 && text->front() == '$' && text->size() <= kLongestName;
}

/// An integer, "$name", or for padding "same".
Number read_number(TableReader& layer, LayerField field) {
  const std::string_view key = name_of(field);
  const Value* value = layer.value(key);
  Number out{0, "", layer.span_of(key)};
  if (value == nullptr) return out;
  const auto* text = std::get_if<std::string>(&value->data);
  const auto* integer = std::get_if<std::int64_t>(&value->data);
  if (is_parameter(*value))
    out.parameter = text->substr(1);
  else if (integer != nullptr && *integer >= least_of(field) && *integer <= most_of(field))
    out.value = *integer;
  else if (field == LayerField::padding && text != nullptr && *text == "same")
    out.value = -1;
  else
    layer.report(out.span, fmt::format("{} must be an integer from {} to {}{}", layer.full_name(key), least_of(field), most_of(field),
                                       field == LayerField::padding ? ", or \"same\"" : ""));
  return out;
}

void read_field(TableReader& layer, const FieldRule& rule, LayerTemplate& out) {
  const std::string_view key = name_of(rule.field);
  if (rule.required) layer.require(key, "3");
  out[rule.field] = read_number(layer, rule.field);
  if (!layer.has(key)) out[rule.field].value = rule.standard;
}

LayerList read_list(const Array& values, Diagnostics& diagnostics);

void read_branches(TableReader& layer, LayerTemplate& out) {
  layer.require("branches", "branches = [[…], []]");
  const Array* branches = layer.array("branches", 1000);
  if (branches == nullptr) return;
  for (const Value& branch : *branches) {
    const auto* list = std::get_if<Array>(&branch.data);
    if (list != nullptr)
      out.branches.push_back(read_list(*list, layer.diagnostics()));
    else
      layer.report(branch.span, "a branch must be a list of layers", "an empty list passes the input on");
  }
  if (branches->empty()) layer.report(layer.span_of("branches"), fmt::format("{} is empty", layer.full_name("branches")));
}

void read_arguments(TableReader& layer, LayerTemplate& out) {
  const Table* with = layer.table("with");
  if (with == nullptr) return;
  if (with->entries.size() > kMostArguments) {
    return layer.report(layer.span_of("with"), fmt::format("a block takes at most {} arguments", kMostArguments));
  }
  for (const Entry& entry : with->entries) {
    Number number{0, "", entry.value.span};
    const auto* integer = std::get_if<std::int64_t>(&entry.value.data);
    if (is_parameter(entry.value))
      number.parameter = std::get<std::string>(entry.value.data).substr(1);
    else if (integer != nullptr)
      number.value = *integer;
    else
      layer.report(number.span, fmt::format("with.{} must be an integer", entry.key.substr(0, kLongestName)));
    out.with.push_back({entry.key, entry.key_span, std::move(number)});
  }
}

void read_block_use(TableReader& layer, LayerTemplate& out) {
  layer.require("block", "block = \"bottleneck\"");
  out.block = layer.string("block").value_or("");
  out.block_span = layer.span_of("block");
  read_field(layer, {LayerField::repeat, false, 1}, out);
  read_arguments(layer, out);
}

void read_plain_layer(TableReader& layer, const TypeRule& rule, LayerTemplate& out) {
  out.type = rule.type;
  for (const FieldRule& field : rule.fields) read_field(layer, field, out);
  const bool pools = rule.type == LayerType::max_pool || rule.type == LayerType::avg_pool;
  if (pools && !layer.has("stride")) out[LayerField::stride] = out[LayerField::kernel];
  if (rule.has_bias) out.bias = layer.boolean("bias").value_or(true);
  if (rule.has_inplace) out.inplace = layer.boolean("inplace").value_or(false);
  if (rule.has_branches) read_branches(layer, out);
}

/// The row of the type that a layer names; nullptr when it names none of them.
const TypeRule* find_rule(const Table& layer) {
  const Entry* entry = layer.find("type");
  const auto* name = entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value.data);
  const auto& rules = type_rules();
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const TypeRule& r) { return name != nullptr && r.name == *name; });
  return rule == rules.end() ? nullptr : &*rule;
}

std::optional<LayerTemplate> read_layer(const Value& value, Diagnostics& diagnostics) {
  const auto* table = std::get_if<Table>(&value.data);
  if (table == nullptr) {
    if (diagnostics.found().size() < Diagnostics::kMostDiagnostics) {
      diagnostics.report(value.span, "a layer must be a table", "write it as in { type = \"relu\" }");
    }
    return std::nullopt;
  }
  const TypeRule* rule = find_rule(*table);
  TableReader layer(*table, rule != nullptr ? std::string(rule->name) : "layer", diagnostics);
  LayerTemplate out;
  out.span = value.span;
  layer.require("type", "type = \"relu\"");
  const auto type = layer.one_of("type", type_names());
  if (!type) return std::nullopt;
  out.name = layer.string("name").value_or("");
  if (out.name.size() > kLongestName) layer.report(layer.span_of("name"), fmt::format("a name has at most {} characters", kLongestName));
  if (rule == nullptr)
    read_block_use(layer, out);
  else
    read_plain_layer(layer, *rule, out);
  layer.finish();
  if (out.name.empty()) out.name = rule == nullptr ? out.block.substr(0, kLongestName) : *type;
  return out;
}

/// "relu", "relu2", "relu3", …
void number_names(LayerList& layers) {
  std::map<std::string, int> seen;
  for (LayerTemplate& layer : layers) {
    const int count = ++seen[layer.name];
    if (count > 1) layer.name += std::to_string(count);
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

void add_parameters(const LayerList& layers, std::set<std::string>& names) {
  for (const LayerTemplate& layer : layers) {
    for (const Number& number : layer.numbers) {
      if (!number.parameter.empty()) names.insert(number.parameter);
    }
    for (const Argument& argument : layer.with) {
      if (!argument.number.parameter.empty()) names.insert(argument.number.parameter);
    }
    for (const LayerList& branch : layer.branches) add_parameters(branch, names);
  }
}

}  // namespace

std::string_view name_of(LayerField field) {
  static constexpr std::array<std::string_view, kLayerFields> kNames{"out",    "kernel",  "stride", "padding", "dilation",
                                                                     "groups", "entries", "heads",  "repeat"};
  return kNames[static_cast<std::size_t>(field)];
}

std::int64_t least_of(LayerField field) { return field == LayerField::padding ? 0 : 1; }
std::int64_t most_of(LayerField field) { return field == LayerField::repeat ? kMostLayers : kLargestField; }

LayerList read_layers(TableReader& table, std::string_view key) {
  table.require(key, "layers = [{ type = \"relu\" }]");
  const Array* values = table.array(key, static_cast<std::size_t>(kMostLayers));
  if (values == nullptr) return {};
  if (values->empty()) table.report(table.span_of(key), fmt::format("{} is empty", table.full_name(key)));
  return read_list(*values, table.diagnostics());
}

std::set<std::string> parameters_of(const LayerList& layers) {
  std::set<std::string> names;
  add_parameters(layers, names);
  return names;
}

}  // namespace foretrain
