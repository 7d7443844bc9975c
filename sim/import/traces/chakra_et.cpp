// Reads Chakra's execution traces (.et), which PyTorch's converter and other tools write for simulators.
//
// A file is a row of protobuf messages, each behind its length: first GlobalMetadata with the version, then
// one Node for each operator. Messages are read by their field numbers from the wire (wire_message), with
// limits and without a library: docs/decisions/0018-traces-in-one-pass.md. Taken are ids, names, parents,
// durations, tensors and the attributes of collectives. Data dependencies and other attributes are skipped. A
// message that breaks off throws InputError with its byte.
#include "sim/import/traces/chakra_et.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/import/traces/pytorch_et.hpp"
#include "sim/import/wire_message.hpp"

namespace foretrain {

namespace {

/// Walks the fields of one message. A message that breaks throws InputError with the byte.
class ChakraMessage {
 public:
  ChakraMessage(WireMessage wire, const std::string& file) : wire_(wire), file_(file) {}

  /// Goes to the next field; false at the end of the message.
  bool next() { return wire_.next() || sound_end(); }
  /// Goes to the next message of a row, each of which stands behind its length.
  bool next_in_row() { return wire_.next_in_row() || sound_end(); }
  int field() const { return wire_.field(); }
  const WireMessage& wire() const { return wire_; }
  std::string_view bytes() const { return wire_.bytes(); }
  /// Returns the message inside the current field.
  ChakraMessage inside() const { return {wire_.message(), file_}; }

 private:
  /// Returns false at a sound end. Throws where the walk ended for another reason.
  bool sound_end() const {
    if (!wire_.is_broken()) return false;
    throw InputError(
        std::vector<Diagnostic>{{file_,
                                 {},
                                 "",
                                 fmt::format("byte {} is {}", wire_.at(), wire_.fault()),
                                 "a Chakra trace is a row of messages behind their lengths, here it was cut "
                                 "short or is none"}});
  }

  WireMessage wire_;
  const std::string& file_;
};

/// An attribute of a node: its value as text or as number, whichever of the kinds it has.
struct ChakraAttribute {
  std::string_view name, text;
  double number = 0;
};

/// Returns the number of an attribute by its field, which tells the type: 3 double, 5 float, 15 and 17 zigzag
/// integers, 23 a signed 32-bit number, 7, 9 and 25 signed 64-bit numbers.
double number_of_field(const WireMessage& field) {
  const std::uint64_t value = field.number();
  switch (field.field()) {
    case 3: {
      const auto out = std::bit_cast<double>(value);
      return std::isfinite(out) ? out : 0;
    }
    case 5: {
      const float out = field.real();
      return std::isfinite(out) ? out : 0;
    }
    // zigzag coding: the sign is in the lowest bit
    case 15:
    case 17:  // zigzag
      return static_cast<double>(static_cast<std::int64_t>(value >> 1) ^
                                 -static_cast<std::int64_t>(value & 1));
    case 23:
      return static_cast<double>(static_cast<std::int32_t>(value));
    case 7:
    case 9:
    case 25:
      return static_cast<double>(static_cast<std::int64_t>(value));
    default:
      return static_cast<double>(value);
  }
}

/// Reads AttributeProto: field 1 is the name, 29 a text, all others are numbers.
ChakraAttribute chakra_attribute(ChakraMessage message) {
  ChakraAttribute out;
  while (message.next()) {
    if (message.field() == 1)
      out.name = message.bytes();
    else if (message.field() == 29)
      out.text = message.bytes();
    else if (!message.wire().has_bytes())
      out.number = number_of_field(message.wire());
  }
  return out;
}

/// Turns a list as Python prints it into JSON, by its quotes and brackets. Long lists are cut.
std::string json_list(std::string_view text) {
  std::string out(text.substr(0, std::size_t{1} << 18));
  for (char& c : out) c = c == '\'' ? '"' : c == '(' && out.front() != '[' ? '[' : c;
  return out;
}

/// Reads the values, shapes and types of a node's inputs or outputs.
ExecutionTensors chakra_tensors(ChakraMessage message) {
  ExecutionTensors out;
  while (message.next()) {
    if (message.field() == 1) out.values = json_list(message.bytes());
    if (message.field() == 2) out.shapes = json_list(message.bytes());
    if (message.field() == 3) out.types = json_list(message.bytes());
  }
  return out;
}

/// Returns the sizes of the tensors; empty where they cannot be understood, so that one odd node does not end
/// the import.
std::string sizes_or_none(const ExecutionTensors& tensors) {
  try {
    return sizes_of(tensors);
  } catch (const InputError&) {
    return "";
  }
}

/// Names of collectives by the numbers of CollectiveKind in chakra_et.proto; the last one has no name here.
constexpr std::array<std::string_view, 10> kChakraCollectives{
    "all_reduce", "reduce",   "all_gather",     "gather",         "scatter",
    "broadcast",  "alltoall", "reduce_scatter", "reduce_scatter", ""};

/// Reads one node after the other into a trace.
class ChakraNodeReader {
 public:
  ChakraNodeReader(ExecutionTrace& trace, const TraceLimits& limits) : trace_(trace), limits_(limits) {}

  /// Reads a node. Its fields may come in any order, so it is kept only at its end.
  void node(ChakraMessage message) {
    node_ = {};
    collective_ = {};
    name_ = {};
    kind_ = 0;
    ExecutionTensors inputs, outputs;
    while (message.next()) {
      if (message.field() == 8) inputs = chakra_tensors(message.inside());
      if (message.field() == 9) outputs = chakra_tensors(message.inside());
      if (message.field() == 10) attribute(chakra_attribute(message.inside()));
      member(message.wire());
    }
    if (kind_ != kCollectiveNode) collective_ = {};
    if (kind_ == kCollectiveNode && collective_.op.empty()) collective_.op = collective_of(name_);
    node_.name = trace_.names.number(name_.substr(0, 2000));
    node_.inputs = trace_.names.number(sizes_or_none(inputs));
    node_.outputs = trace_.names.number(sizes_or_none(outputs));
    // Settings such as a stride are needed for convolutions only; values of others are not kept.
    // The texts are stored once, by number.
    const bool has_settings = name_.find("conv") != std::string_view::npos && inputs.values.size() < 2000;
    node_.values = trace_.names.number(has_settings ? inputs.values : std::string());
    keep_node(trace_, limits_, node_, collective_);
  }

 private:
  /// NodeType of a collective in chakra_et.proto.
  static constexpr std::uint64_t kCollectiveNode = 7;

  /// Takes a field of the node itself: 1 id, 2 name, 3 type, 4 control dependency (the caller), 7 duration in
  /// us.
  void member(const WireMessage& wire) {
    if (wire.field() == 1) node_.id = wire.number();
    if (wire.field() == 2) name_ = wire.bytes();
    if (wire.field() == 3) kind_ = wire.number();
    if (wire.field() == 4 && wire.is_varint()) node_.parent = wire.number();
    if (wire.field() == 7)
      node_.duration_us = static_cast<std::int64_t>(std::min<std::uint64_t>(wire.number(), 1ULL << 50));
  }
  /// Takes an attribute. comm_size is in bytes, so an element counts as one byte.
  void attribute(const ChakraAttribute& attribute) {
    const double number = std::clamp(attribute.number, -1.0, 9e15);
    if (attribute.name == "comm_type" && number >= 0 && number < kChakraCollectives.size())
      collective_.op = kChakraCollectives[static_cast<std::size_t>(number)];
    else if (attribute.name == "comm_size")
      collective_.in_elements = collective_.out_elements = static_cast<std::int64_t>(std::max(number, 0.0)),
      collective_.element_bytes = 1;
    else if (attribute.name == "pg_name")
      collective_.group = printable(shortened(attribute.text, 100));
    else if (attribute.name == "seq_id")
      node_.sequence = number < 1e9 ? static_cast<std::int32_t>(number) : -1;
    else if (attribute.name == "tid")
      node_.thread = static_cast<std::uint32_t>(std::clamp(number, 0.0, 4e9));
    else if (attribute.name == "fw_tid")
      node_.is_backward = number > 0;
  }

  ExecutionTrace& trace_;
  const TraceLimits& limits_;
  ExecutionNode node_;
  TraceCollective collective_;
  std::string_view name_;
  std::uint64_t kind_ = 0;
};

}  // namespace

/// The first bytes are the header's length, the tag of its version, and the version's length and text. A
/// version such as "0.0.4" has few kinds of characters, so other binary files do not match.
bool is_chakra(std::string_view bytes) {
  if (bytes.size() < 4) return false;
  const auto at = [&bytes](std::size_t place) { return static_cast<unsigned char>(bytes[place]); };
  const std::size_t header = at(0), version = at(2);
  if (header >= 0x80 || at(1) != 0x0A || version == 0 || version > 40 || version + 2 > header) return false;
  if (bytes.size() < 3 + version) return false;
  return std::ranges::all_of(bytes.substr(3, version), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '-';
  });
}

ExecutionTrace read_chakra(std::string_view bytes, const std::string& file, const TraceLimits& limits) {
  ExecutionTrace trace;
  trace.file = file;
  trace.names = TraceNames(limits);
  // Name 0 is the empty one, which the fields of a node begin with.
  trace.names.number("");
  ChakraMessage row(WireMessage(bytes), trace.file);
  if (row.next_in_row()) {
    for (ChakraMessage header = row.inside(); header.next();)
      if (header.field() == 1) trace.schema = "Chakra " + printable(shortened(header.bytes(), 60));
  }
  ChakraNodeReader reader(trace, limits);
  while (row.next_in_row()) reader.node(row.inside());
  // Nodes refer to their callers by id, and a search by id needs this order.
  std::ranges::stable_sort(trace.nodes, {}, &ExecutionNode::id);
  return trace;
}

}  // namespace foretrain
