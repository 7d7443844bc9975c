// Reads the messages of onnx.proto, field by field, in one pass and without a generated parser.
//
// Numbers of fields: ModelProto 7 graph, 8 opset; GraphProto 1 node, 5 initializer, 11 input, 12 output, 13
// value_info; NodeProto 1 to 5 and 7; AttributeProto; TensorProto 1 dims, 2 type, 4 floats, 5 and 7 whole
// numbers, 8 name, 9 raw bytes. Unknown fields and the values of weights are skipped where they stand. A
// damaged message is reported with its byte. After the first report reading stops.
#include "sim/import/models/onnx_graph.hpp"

#include <bit>

#include <fmt/format.h>

#include "sim/import/wire_message.hpp"

namespace foretrain {

namespace {

/// Bytes of a name, attributes of a node, and numbers of one attribute, at most.
constexpr std::size_t kLongestOnnxName = 1'000;
constexpr std::size_t kMostAttributes = 64;
constexpr std::size_t kMostNumbers = 4'096;  // of one attribute

/// Returns the text of a field, cut to kLongestOnnxName bytes.
std::string text_of(const WireMessage& field) {
  return std::string(field.bytes().substr(0, kLongestOnnxName));
}

/// Maps TensorProto.DataType: 1 float, 10 float16, 11 double and 16 bfloat16 count as real numbers.
OnnxType type_of(std::int64_t number) {
  switch (number) {
    case 6:
      return OnnxType::int32;
    case 7:
      return OnnxType::int64;
    case 9:
      return OnnxType::boolean;
    case 1:
    case 10:
    case 11:
    case 16:
      return OnnxType::real;
    default:
      return OnnxType::unknown;
  }
}

/// Reads one file. Each function below reads one message; all of them share the graph and the diagnostics.
class OnnxReading {
 public:
  OnnxReading(const SourceText& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  /// Reads ModelProto: producer, graph and versions of operators.
  OnnxGraph read() {
    WireMessage model(source_.text);
    while (go_on(model)) {
      if (model.field() == 2) graph_.producer = text_of(model);
      if (model.field() == 7 && model.has_bytes()) read_graph(model.message());
      if (model.field() == 8) read_opset(model.message());
    }
    return std::move(graph_);
  }

 private:
  /// Goes to the next field. A message that breaks off is reported once; after any report it returns false,
  /// so that all nested loops end.
  bool go_on(WireMessage& message) {
    if (!diagnostics_.empty()) return false;
    if (message.next()) return true;
    if (message.is_broken())
      diagnostics_.report({},
                          fmt::format("the ONNX file breaks off, or is damaged, at byte {}", message.at()),
                          "is it whole? It may have been cut while it was copied");
    return false;
  }

  /// Returns whether one more entry stays within a limit of the graph; reports it where it does not.
  bool has_room_for_one(std::size_t count, std::size_t most, std::string_view what) {
    if (count < most) return true;
    if (diagnostics_.empty())
      diagnostics_.report({}, fmt::format("the graph has more than {} {}", most, what));
    return false;
  }

  /// Keeps the version of the standard operators; those of other domains are ignored.
  void read_opset(WireMessage opset) {
    std::string domain;
    std::int64_t version = 0;
    while (go_on(opset)) {
      if (opset.field() == 1) domain = text_of(opset);
      if (opset.field() == 2) version = opset.integer();
    }
    if (domain.empty() || domain == "ai.onnx") graph_.opset = version;
  }

  /// Reads GraphProto. Nodes, initializers and shapes go into lists in the order of the file.
  void read_graph(WireMessage graph) {
    while (go_on(graph)) {
      if (!graph.has_bytes()) continue;
      switch (graph.field()) {
        case 1:
          if (has_room_for_one(graph_.nodes.size(), kMostOnnxNodes, "nodes")) read_node(graph.message());
          break;
        case 5:
          if (has_room_for_one(graph_.weights.size(), kMostOnnxTensors, "initializers"))
            graph_.weights.push_back(read_tensor(graph.message()));
          break;
        case 11:
          add_value(graph_.inputs, graph.message());
          break;
        case 12:
          add_value(graph_.outputs, graph.message());
          break;
        case 13:
          add_value(graph_.values, graph.message());
          break;
        default:
          break;
      }
    }
  }

  /// Reads ValueInfoProto: a name with its type and shape.
  void add_value(std::vector<OnnxTensor>& to, WireMessage value) {
    if (!has_room_for_one(to.size(), kMostOnnxTensors, "values")) return;
    OnnxTensor out;
    while (go_on(value)) {
      if (value.field() == 1) out.name = text_of(value);
      if (value.field() == 2 && value.has_bytes()) read_type(value.message(), out);
    }
    to.push_back(std::move(out));
  }

  /// Reads TypeProto as far as it is a tensor; sequences and maps have no shape here.
  void read_type(WireMessage type, OnnxTensor& out) {
    while (go_on(type)) {
      if (type.field() != 1 || !type.has_bytes()) continue;
      WireMessage tensor = type.message();
      while (go_on(tensor)) {
        if (tensor.field() == 1) out.type = type_of(tensor.integer());
        if (tensor.field() == 2 && tensor.has_bytes()) read_shape(tensor.message(), out);
      }
    }
  }

  /// Reads TensorShapeProto. A dimension with a name, or of 0, is open: -1.
  void read_shape(WireMessage shape, OnnxTensor& out) {
    out.has_values = false;
    while (go_on(shape)) {
      if (shape.field() != 1) continue;
      if (!has_room_for_one(out.dims.size(), kMostOnnxDims, "dimensions of a tensor")) return;
      std::int64_t size = -1;
      WireMessage dimension = shape.message();
      while (go_on(dimension)) {
        if (dimension.field() == 1) size = dimension.integer();
      }
      out.dims.push_back(size > 0 ? size : -1);
    }
  }

  /// Reads TensorProto. Fields may come in any order, so values are kept aside until the type is known.
  OnnxTensor read_tensor(WireMessage tensor) {
    OnnxTensor out;
    std::string_view raw;
    std::vector<std::int64_t> values;
    double real = 0;
    while (go_on(tensor)) {
      switch (tensor.field()) {
        case 1:
          if (!tensor.append_integers(out.dims, kMostOnnxDims))
            diagnostics_.report({}, fmt::format("a tensor has more than {} dimensions", kMostOnnxDims));
          break;
        case 2:
          out.type = type_of(tensor.integer());
          break;
        case 4:
          real = first_real(tensor);
          break;
        case 5:
        case 7:
          tensor.append_integers(values, kMostFolded);
          break;
        case 8:
          out.name = text_of(tensor);
          break;
        case 9:
          raw = tensor.bytes();
          break;
        default:
          break;
      }
    }
    keep_values(out, raw, values, real);
    return out;
  }

  /// Returns the real number of a field, plain or packed; 0 where the packed field holds several.
  static double first_real(const WireMessage& field) {
    if (!field.has_bytes()) return static_cast<double>(field.real());
    return field.bytes().size() == 4 ? raw_number<float>(field.bytes()) : 0;
  }

  template <typename Number>
  static double raw_number(std::string_view raw) {
    Number value{};
    raw.copy(reinterpret_cast<char*>(&value), sizeof value);  // ONNX is little-endian, as are we
    return static_cast<double>(value);
  }

  /// Keeps the values of at most kMostFolded whole numbers, and the value of a single real number. Only
  /// shapes, indices and constants are that small; they decide what a node does.
  void keep_values(OnnxTensor& out, std::string_view raw, std::vector<std::int64_t>& values, double real) {
    for (const std::int64_t size : out.dims) {
      if (size >= 0) continue;
      diagnostics_.report({}, fmt::format("tensor \"{}\" has a dimension of {}", out.name, size),
                          "dimensions of initializers are 0 or more");
    }
    if (out.type == OnnxType::real) {
      out.real =
          raw.size() == 4 ? raw_number<float>(raw) : (raw.size() == 8 ? raw_number<double>(raw) : real);
      return;
    }
    // Values stand as numbers, or as raw bytes of the type's width.
    const std::size_t width = out.type == OnnxType::int64 ? 8 : (out.type == OnnxType::int32 ? 4 : 1);
    if (values.empty() && raw.size() / width <= kMostFolded) {
      for (std::size_t i = 0; i + width <= raw.size(); i += width)
        values.push_back(width == 8   ? std::bit_cast<std::int64_t>(bits_of<std::uint64_t>(raw.substr(i)))
                         : width == 4 ? std::bit_cast<std::int32_t>(bits_of<std::uint32_t>(raw.substr(i)))
                                      : static_cast<unsigned char>(raw[i]));
    }
    out.has_values =
        values.size() <= kMostFolded && static_cast<double>(values.size()) == elements_of(out.dims);
    // A tensor with another number of values than elements is damaged, so its values are not used.
    if (out.has_values) out.values = std::move(values);
  }

  template <typename Number>
  static Number bits_of(std::string_view raw) {
    Number value{};
    raw.copy(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  }

  // A double cannot overflow, however large the sizes are.
  static double elements_of(const OnnxDims& dims) {
    double product = 1;
    for (const std::int64_t size : dims) product *= static_cast<double>(size);
    return product;
  }

  /// Reads NodeProto. A node without a name gets one of its operator and its number, for messages.
  void read_node(WireMessage node) {
    OnnxNode out;
    while (go_on(node)) {
      switch (node.field()) {
        case 1:
        case 2: {
          auto& names = node.field() == 1 ? out.inputs : out.outputs;
          if (has_room_for_one(names.size(), kMostOnnxNames, "inputs or outputs at one node"))
            names.push_back(text_of(node));
          break;
        }
        case 3:
          out.name = text_of(node);
          break;
        case 4:
          out.op = text_of(node);
          break;
        case 5:
          if (has_room_for_one(out.attributes.size(), kMostAttributes, "attributes at one node"))
            out.attributes.push_back(read_attribute(node.message()));
          break;
        case 7:
          out.domain = text_of(node);
          break;
        default:
          break;
      }
    }
    // Messages need a name.
    if (out.name.empty()) out.name = fmt::format("{} {}", out.op, graph_.nodes.size());
    graph_.nodes.push_back(std::move(out));
  }

  /// Reads AttributeProto: 2 a float, 3 an integer, 4 a text, 5 a tensor, 8 a list of integers.
  OnnxAttribute read_attribute(WireMessage attribute) {
    OnnxAttribute out;
    while (go_on(attribute)) {
      switch (attribute.field()) {
        case 1:
          out.name = text_of(attribute);
          break;
        case 2:
          out.real = static_cast<double>(attribute.real());
          break;
        case 3:
          out.number = attribute.integer();
          break;
        case 4:
          out.text = text_of(attribute);
          break;
        case 5:
          if (attribute.has_bytes()) out.tensor = read_tensor(attribute.message());
          break;
        case 8:
          if (!attribute.append_integers(out.numbers, kMostNumbers))
            diagnostics_.report({}, fmt::format("attribute \"{}\" has more than {} numbers, or breaks off",
                                                out.name, kMostNumbers));
          break;
        default:
          break;
      }
    }
    return out;
  }

  const SourceText& source_;
  Diagnostics& diagnostics_;
  OnnxGraph graph_;
};

}  // namespace

const OnnxAttribute* OnnxNode::find(std::string_view attribute) const {
  for (const OnnxAttribute& one : attributes) {
    if (one.name == attribute) return &one;
  }
  return nullptr;
}

std::int64_t OnnxNode::number(std::string_view attribute, std::int64_t otherwise) const {
  const OnnxAttribute* found = find(attribute);
  return found == nullptr ? otherwise : found->number;
}

std::vector<std::int64_t> OnnxNode::numbers(std::string_view attribute) const {
  const OnnxAttribute* found = find(attribute);
  return found == nullptr ? std::vector<std::int64_t>{} : found->numbers;
}

OnnxGraph read_onnx_graph(const SourceText& source, Diagnostics& diagnostics) {
  return OnnxReading(source, diagnostics).read();
}

}  // namespace foretrain
