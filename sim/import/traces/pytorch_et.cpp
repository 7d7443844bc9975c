// Reads the nodes of PyTorch's execution traces. Newer files (schema 1.1) keep inputs and outputs in objects,
// and what else is known in a list of attributes; older ones have all of it as members of the node.
#include "sim/import/traces/pytorch_et.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// Bytes of one argument list, as text; more is cut.
constexpr std::size_t kLongestList = std::size_t{1} << 20;

/// A list of sizes, which may hold further lists.
struct NestedSizes {
  std::vector<std::int64_t> dims;
  std::vector<NestedSizes> items;
};

/// Lists inside of one list, at most.
constexpr std::size_t kMostItems = 100'000;

/// Reads a list. Sizes are clamped, so that no value overflows; the depth is bounded by JsonStream.
NestedSizes nested_sizes(JsonStream& json) {
  NestedSizes out;
  json.array([&] {
    if (json.kind() == JsonKind::array && out.items.size() < kMostItems)
      out.items.push_back(nested_sizes(json));
    else if (json.kind() == JsonKind::number && out.dims.size() < 16)
      out.dims.push_back(static_cast<std::int64_t>(std::clamp(json.number().value, 0.0, 1e15)));
    else
      json.skip();
  });
  return out;
}

/// Returns the elements of "GenericList[Tensor(float),Int]"; a type that is no list is its own element.
std::vector<std::string> elements_of(const std::string& type) {
  constexpr std::string_view kList = "GenericList[";
  if (!type.starts_with(kList)) return {type};
  std::vector<std::string> out(1);
  int depth = 0;
  for (std::size_t i = kList.size(); i + 1 < type.size(); ++i) {
    const char c = type[i];
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      out.emplace_back();
    else
      out.back().push_back(c);
  }
  return out;
}

/// Adds the sizes of the tensors in one argument, going into lists of them.
void add_sizes(const NestedSizes& sizes, const std::string& type, std::string& out) {
  if (type.starts_with("GenericList[")) {
    const std::vector<std::string> types = elements_of(type);
    for (std::size_t i = 0; i < std::min(types.size(), sizes.items.size()); ++i)
      add_sizes(sizes.items[i], types[i], out);
    return;
  }
  const std::string_view name = type.starts_with("Tensor(") ? short_type_of(type) : std::string_view{};
  if (!name.empty()) out += fmt::format("{}{}[{}]", out.empty() ? "" : " ", name, fmt::join(sizes.dims, ","));
}

/// Writes a value as JSON again, without white space. What goes beyond kLongestList is cut; quotes inside
/// texts are dropped.
void rewrite(JsonStream& json, std::string& out) {
  const auto add = [&out](std::string_view text) {
    if (out.size() < kLongestList) out += text;
  };
  const auto add_quoted = [&add](std::string_view text) {
    add("\"");
    for (const char c : text) {
      if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= ' ') add(std::string_view(&c, 1));
    }
    add("\"");
  };
  // Objects have no place in lists of arguments.
  switch (json.kind()) {
    case JsonKind::array: {
      add("[");
      bool first = true;
      json.array([&] {
        if (!std::exchange(first, false)) add(",");
        rewrite(json, out);
      });
      return add("]");
    }
    case JsonKind::object:
      json.skip();
      return add("null");
    case JsonKind::string:
      return add_quoted(json.string());
    case JsonKind::number:
      return add(fmt::format("{:.15g}", std::clamp(json.number().value, -1e300, 1e300)));
    case JsonKind::word:
      return add(json.word());
  }
}

}  // namespace

/// Walks shapes and types in parallel: the i-th type belongs to the i-th shape.
std::string sizes_of(const ExecutionTensors& tensors) {
  if (tensors.shapes.empty() || tensors.types.empty() || tensors.shapes.size() >= kLongestList) return "";
  std::istringstream shape_text(tensors.shapes), type_text(tensors.types);
  TraceBytes shape_bytes(shape_text, "shapes"), type_bytes(type_text, "types");
  JsonStream shapes(shape_bytes), types(type_bytes);
  if (shapes.kind() != JsonKind::array || types.kind() != JsonKind::array) return "";
  const NestedSizes sizes = nested_sizes(shapes);
  std::string out;
  std::size_t i = 0;
  types.array([&] {
    if (types.kind() != JsonKind::string) return types.skip();
    const std::string& type = types.string();
    if (i < sizes.items.size()) add_sizes(sizes.items[i], type, out);
    ++i;
  });
  return out;
}

std::vector<std::string> sizes_in(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    if (end != 0) out.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return out;
}

/// Products are clamped to 2^40, which no tensor reaches.
std::int64_t elements_in(std::string_view size) {
  const std::size_t open = size.find('[');
  if (open == std::string_view::npos || !size.ends_with(']')) return 0;
  std::int64_t product = 1, number = 0;
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  for (const char c : size.substr(open + 1)) {
    if (c >= '0' && c <= '9') {
      number = std::min(number * 10 + (c - '0'), kMost);
    } else if (size[open + 1] != ']') {
      product = number > 0 && product > kMost / number ? kMost : product * number;
      number = 0;
    }
  }
  return product;
}

void keep_node(ExecutionTrace& trace, const TraceLimits& limits, ExecutionNode node,
               const TraceCollective& collective) {
  if (trace.nodes.size() == limits.events)
    throw InputError(fmt::format("{} holds more than {} nodes", printable(trace.file), limits.events),
                     "record fewer steps");
  if (!collective.op.empty()) {
    trace.collectives.push_back(collective);
    node.collective = static_cast<std::uint32_t>(trace.collectives.size());
  }
  trace.nodes.push_back(node);
}

/// Reads the member "nodes".
void PytorchEtReader::nodes() {
  json_.array([this] { node(); });
}

/// Reads the member "schema".
void PytorchEtReader::schema() {
  if (json_.kind() == JsonKind::string)
    trace_.schema = shortened(json_.string(), 60);
  else
    json_.skip();
}

/// Reads one node; one without an id is counted.
void PytorchEtReader::node() {
  if (json_.kind() != JsonKind::object) return json_.skip(), void(++without_id_);
  RawNode raw;
  json_.object([&](std::string_view key) { member(key, raw); });
  if (!raw.has_id) return void(++without_id_);
  keep(raw);
}

/// Returns the value of an attribute, a number or a text.
PytorchEtReader::Attribute PytorchEtReader::attribute_value() {
  Attribute out;
  if (json_.kind() == JsonKind::number) {
    out.is_number = true;
    out.number = json_.number().value;
  } else if (json_.kind() == JsonKind::string) {
    out.text = json_.string().substr(0, 2000);
  } else {
    json_.skip();
  }
  return out;
}

/// Takes a value by its name, whether it is a member (older files) or an attribute (newer ones).
void PytorchEtReader::use(std::string_view name, const Attribute& value, RawNode& raw) {
  const double number = std::clamp(value.number, -1.0, 9e15);
  const auto integer = static_cast<std::int64_t>(number);
  TraceCollective& collective = raw.collective;
  if (name == "id" && value.is_number && number >= 0) {
    raw.node.id = static_cast<std::uint64_t>(integer);
    raw.has_id = true;
  } else if (name == "parent" || name == "ctrl_deps") {
    raw.node.parent = static_cast<std::uint64_t>(std::max<std::int64_t>(integer, 0));
  } else if (name == "seq_id") {
    raw.node.sequence = number < 1e9 ? static_cast<std::int32_t>(integer) : -1;
  } else if (name == "tid") {
    raw.node.thread = static_cast<std::uint32_t>(std::clamp(number, 0.0, 4e9));
  } else if (name == "fw_tid") {
    raw.node.is_backward = number > 0;
  } else if (name == "collective_name") {
    collective.op = collective_of(value.text);
  } else if (name == "dtype") {
    collective.element_bytes = element_bytes_of(value.text);
  } else if (name == "in_msg_nelems") {
    collective.in_elements = std::max<std::int64_t>(integer, 0);
  } else if (name == "out_msg_nelems") {
    collective.out_elements = std::max<std::int64_t>(integer, 0);
  } else if (name == "group_size") {
    collective.ranks = static_cast<int>(std::clamp(number, 0.0, 1e7));
  }
}

/// Reads one attribute: {"name": "fw_tid", "type": "uint64", "value": 1}.
void PytorchEtReader::attribute(RawNode& raw) {
  std::string name;
  Attribute value;
  json_.object([&](std::string_view key) {
    if (key == "name" && json_.kind() == JsonKind::string)
      name = json_.string();
    else if (key == "value")
      value = attribute_value();
    else
      json_.skip();
  });
  use(name, value, raw);
}

/// Reads inputs or outputs: a list of values in older files, an object with values, shapes and types in newer
/// ones.
void PytorchEtReader::tensors(ExecutionTensors& out) {
  if (json_.kind() == JsonKind::array) return rewrite(json_, out.values);  // of older files
  if (json_.kind() != JsonKind::object) return json_.skip();
  json_.object([&](std::string_view key) {
    if (key == "values")
      rewrite(json_, out.values);
    else if (key == "shapes")
      rewrite(json_, out.shapes);
    else if (key == "types")
      rewrite(json_, out.types);
    else
      json_.skip();
  });
}

/// Takes a member of a node.
void PytorchEtReader::member(std::string_view key, RawNode& raw) {
  if (key == "name" && json_.kind() == JsonKind::string) {
    raw.name = json_.string().substr(0, 2000);
  } else if (key == "inputs") {
    tensors(raw.inputs);
  } else if (key == "outputs") {
    tensors(raw.outputs);
  } else if (key == "input_shapes") {
    rewrite(json_, raw.inputs.shapes);
  } else if (key == "input_types") {
    rewrite(json_, raw.inputs.types);
  } else if (key == "output_shapes") {
    rewrite(json_, raw.outputs.shapes);
  } else if (key == "output_types") {
    rewrite(json_, raw.outputs.types);
  } else if (key == "attrs" && json_.kind() == JsonKind::array) {
    json_.array([&] { json_.kind() == JsonKind::object ? attribute(raw) : json_.skip(); });
  } else if (json_.kind() == JsonKind::number) {
    const std::string name(key);
    use(name, attribute_value(), raw);
  } else {
    json_.skip();
  }
}

/// Keeps a node. Values are kept for convolutions only, whose settings are among them.
void PytorchEtReader::keep(RawNode& raw) {
  raw.node.name = trace_.names.number(raw.name);
  raw.node.inputs = trace_.names.number(sizes_of(raw.inputs));
  raw.node.outputs = trace_.names.number(sizes_of(raw.outputs));
  const bool has_settings = raw.name.find("conv") != std::string::npos && raw.inputs.values.size() < 2000;
  raw.node.values = trace_.names.number(has_settings ? raw.inputs.values : std::string());
  // Only record_param_comms describes a collective with its size.
  if (raw.name != "record_param_comms" || raw.collective.in_elements == 0) raw.collective = {};
  keep_node(trace_, limits_, raw.node, raw.collective);
}

/// Sorts the nodes by id: callers are searched by it.
void PytorchEtReader::finish() {
  std::ranges::stable_sort(trace_.nodes, {}, &ExecutionNode::id);
  if (without_id_ > 0)
    trace_.notes.push_back(fmt::format("{} nodes without a number are left out", without_id_));
}

}  // namespace foretrain
