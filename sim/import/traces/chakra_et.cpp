// Protobuf on the wire is a row of (number, kind, value); a hundred lines read all of it that is wanted here,
// bounded, without a library: docs/decisions/0018-traces-in-one-pass.md.
#include "sim/import/traces/chakra_et.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/import/traces/pytorch_et.hpp"

namespace foretrain {

namespace {

enum class WireKind : std::uint8_t { varint = 0, eight = 1, bytes = 2, four = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireKind kind = WireKind::varint;
  std::uint64_t value = 0;  ///< of varint, four and eight
  std::string_view bytes;
};

/// Walks the fields of one message.
class WireReader {
 public:
  WireReader(std::string_view bytes, std::size_t offset, const std::string& file)
      : bytes_(bytes), offset_(offset), file_(file) {}

  bool at_end() const { return at_ == bytes_.size(); }
  std::size_t offset() const { return offset_ + at_; }
  bool next(WireField& field) {
    if (at_end()) return false;
    const std::uint64_t tag = varint();
    if (tag >> 3 == 0 || tag >> 3 > 0x1FFF'FFFF) refuse("a field number that cannot be");
    field = {static_cast<std::uint32_t>(tag >> 3), static_cast<WireKind>(tag & 7), 0, {}};
    switch (field.kind) {
      case WireKind::varint:
        field.value = varint();
        return true;
      case WireKind::eight:
        return field.value = fixed(8), true;
      case WireKind::four:
        return field.value = fixed(4), true;
      case WireKind::bytes:
        return field.bytes = message(), true;
    }
    refuse("a kind of field that Chakra's schema does not have");
  }
  /// A length and so many bytes.
  std::string_view message() {
    const std::uint64_t length = varint();
    if (length > bytes_.size() - at_)
      refuse("a length beyond the end: the file was cut short, or is no trace");
    at_ += length;
    return bytes_.substr(at_ - length, length);
  }
  [[noreturn]] void refuse(std::string_view what) const {
    throw InputError(std::vector<Diagnostic>{{file_,
                                              {},
                                              "",
                                              fmt::format("byte {} is {}", offset(), what),
                                              "a Chakra trace is a row of messages behind their lengths"}});
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_end()) refuse("where the file ends within a number");
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    refuse("in a number of more than 64 bits");
  }
  std::uint64_t fixed(std::size_t size) {
    if (bytes_.size() - at_ < size) refuse("where the file ends within a number");
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + at_, size);  // both are little endian
    at_ += size;
    return value;
  }

  std::string_view bytes_;
  std::size_t offset_ = 0, at_ = 0;
  const std::string& file_;
};

/// The value of an attribute as text or number, whichever of the kinds it is.
struct ChakraAttribute {
  std::string_view name, text;
  double number = 0;
};

double number_of_field(const WireField& field) {
  const std::uint64_t value = field.value;
  switch (field.number) {
    case 3: {
      double out = 0;
      std::memcpy(&out, &value, sizeof out);
      return std::isfinite(out) ? out : 0;
    }
    case 5: {
      float out = 0;
      std::memcpy(&out, &value, sizeof out);
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

ChakraAttribute chakra_attribute(WireReader reader) {
  ChakraAttribute out;
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1)
      out.name = field.bytes;
    else if (field.number == 29)
      out.text = field.bytes;
    else if (field.kind != WireKind::bytes)
      out.number = number_of_field(field);
  }
  return out;
}

/// Lists as Python prints them become JSON.
std::string json_list(std::string_view text) {
  std::string out(text.substr(0, std::size_t{1} << 18));
  for (char& c : out) c = c == '\'' ? '"' : c == '(' && out.front() != '[' ? '[' : c;
  return out;
}

ExecutionTensors chakra_tensors(WireReader reader) {
  ExecutionTensors out;
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) out.values = json_list(field.bytes);
    if (field.number == 2) out.shapes = json_list(field.bytes);
    if (field.number == 3) out.types = json_list(field.bytes);
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

  void node(std::string_view bytes, std::size_t offset) {
    node_ = {};
    collective_ = {};
    name_ = {};
    kind_ = 0;
    ExecutionTensors inputs, outputs;
    WireReader reader(bytes, offset, trace_.file);
    WireField field;
    while (reader.next(field)) {
      if (field.number == 8) inputs = chakra_tensors({field.bytes, reader.offset(), trace_.file});
      if (field.number == 9) outputs = chakra_tensors({field.bytes, reader.offset(), trace_.file});
      if (field.number == 10) attribute(chakra_attribute({field.bytes, reader.offset(), trace_.file}));
      member(field);
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

  void member(const WireField& field) {
    if (field.number == 1) node_.id = field.value;
    if (field.number == 2) name_ = field.bytes;
    if (field.number == 3) kind_ = field.value;
    if (field.number == 4 && field.kind == WireKind::varint) node_.parent = field.value;
    if (field.number == 7)
      node_.duration_us = static_cast<std::int64_t>(std::min<std::uint64_t>(field.value, 1ULL << 50));
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
  WireReader messages(bytes, 0, trace.file);
  WireReader header(messages.message(), messages.offset(), trace.file);
  WireField field;
  while (header.next(field)) {
    if (field.number == 1) trace.schema = "Chakra " + printable(shortened(field.bytes, 60));
  }
  ChakraNodeReader reader(trace, limits);
  while (!messages.at_end()) {
    const std::size_t offset = messages.offset();
    reader.node(messages.message(), offset);
  }
  std::ranges::stable_sort(trace.nodes, {}, &ExecutionNode::id);
  return trace;
}

}  // namespace foretrain
