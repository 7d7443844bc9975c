// Messages of Chakra's schema by their field numbers, read from the wire (wire_message), bounded, without a
// library: docs/decisions/0018-traces-in-one-pass.md.
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

/// Walks the fields of one message; what breaks is refused with its place.
class ChakraMessage {
 public:
  ChakraMessage(WireMessage wire, const std::string& file) : wire_(wire), file_(file) {}

  bool next() { return wire_.next() || sound_end(); }
  bool next_in_row() { return wire_.next_in_row() || sound_end(); }
  int field() const { return wire_.field(); }
  const WireMessage& wire() const { return wire_; }
  std::string_view bytes() const { return wire_.bytes(); }
  ChakraMessage inside() const { return {wire_.message(), file_}; }

 private:
  /// False; throws where the walk ended for another reason than the message's end.
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

/// The value of an attribute as text or number, whichever of the kinds it is.
struct ChakraAttribute {
  std::string_view name, text;
  double number = 0;
};

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

/// Lists as Python prints them become JSON.
std::string json_list(std::string_view text) {
  std::string out(text.substr(0, std::size_t{1} << 18));
  for (char& c : out) c = c == '\'' ? '"' : c == '(' && out.front() != '[' ? '[' : c;
  return out;
}

ExecutionTensors chakra_tensors(ChakraMessage message) {
  ExecutionTensors out;
  while (message.next()) {
    if (message.field() == 1) out.values = json_list(message.bytes());
    if (message.field() == 2) out.shapes = json_list(message.bytes());
    if (message.field() == 3) out.types = json_list(message.bytes());
  }
  return out;
}

/// What cannot be understood is no size.
std::string sizes_or_none(const ExecutionTensors& tensors) {
  try {
    return sizes_of(tensors);
  } catch (const InputError&) {
    return "";
  }
}

/// In the order of chakra_et.proto's CollectiveKind.
constexpr std::array<std::string_view, 10> kChakraCollectives{
    "all_reduce", "reduce",   "all_gather",     "gather",         "scatter",
    "broadcast",  "alltoall", "reduce_scatter", "reduce_scatter", ""};

class ChakraNodeReader {
 public:
  ChakraNodeReader(ExecutionTrace& trace, const TraceLimits& limits) : trace_(trace), limits_(limits) {}

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
    const bool has_settings = name_.find("conv") != std::string_view::npos && inputs.values.size() < 2000;
    node_.values = trace_.names.number(has_settings ? inputs.values : std::string());
    keep_node(trace_, limits_, node_, collective_);
  }

 private:
  static constexpr std::uint64_t kCollectiveNode = 7;

  void member(const WireMessage& wire) {
    if (wire.field() == 1) node_.id = wire.number();
    if (wire.field() == 2) name_ = wire.bytes();
    if (wire.field() == 3) kind_ = wire.number();
    if (wire.field() == 4 && wire.is_varint()) node_.parent = wire.number();
    if (wire.field() == 7)
      node_.duration_us = static_cast<std::int64_t>(std::min<std::uint64_t>(wire.number(), 1ULL << 50));
  }
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
  trace.names.number("");
  ChakraMessage row(WireMessage(bytes), trace.file);
  if (row.next_in_row()) {
    for (ChakraMessage header = row.inside(); header.next();)
      if (header.field() == 1) trace.schema = "Chakra " + printable(shortened(header.bytes(), 60));
  }
  ChakraNodeReader reader(trace, limits);
  while (row.next_in_row()) reader.node(row.inside());
  std::ranges::stable_sort(trace.nodes, {}, &ExecutionNode::id);
  return trace;
}

}  // namespace foretrain
