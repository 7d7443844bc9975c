// Maps names of element types and collectives, as frameworks and NCCL write them, to those used here; and
// keeps each name of a trace once.
#include "sim/import/traces/trace.hpp"

#include <array>

#include "sim/base/ascii.hpp"
#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

/// An element type: its name, its short name in a size, and its bytes.
struct ElementType {
  std::string_view name, short_name;
  int bytes;
};

/// Types in lower case, without "c10::" and "tensor(".
constexpr std::array kElementTypes{
    ElementType{"float", "f32", 4},
    ElementType{"float32", "f32", 4},
    ElementType{"double", "f64", 8},
    ElementType{"float64", "f64", 8},
    ElementType{"half", "f16", 2},
    ElementType{"float16", "f16", 2},
    ElementType{"bfloat16", "bf16", 2},
    ElementType{"float8_e4m3fn", "f8", 1},
    ElementType{"float8_e5m2", "f8", 1},
    ElementType{"long", "i64", 8},
    ElementType{"long int", "i64", 8},
    ElementType{"int64", "i64", 8},
    ElementType{"int", "i32", 4},
    ElementType{"int32", "i32", 4},
    ElementType{"short", "i16", 2},
    ElementType{"short int", "i16", 2},
    ElementType{"int16", "i16", 2},
    ElementType{"char", "i8", 1},
    ElementType{"signed char", "i8", 1},
    ElementType{"int8", "i8", 1},
    ElementType{"byte", "u8", 1},
    ElementType{"unsigned char", "u8", 1},
    ElementType{"uint8", "u8", 1},
    ElementType{"bool", "b8", 1},
    ElementType{"complex<float>", "c64", 8},
    ElementType{"complexfloat", "c64", 8},
};

/// Returns the row of a type in any of the spellings; nullptr where it is not known.
const ElementType* element_type(std::string_view type) {
  std::string name = lower_case(trimmed(type));
  for (const std::string_view prefix : {"tensor(", "c10::"}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  if (name.ends_with(')')) name.pop_back();
  for (const ElementType& row : kElementTypes) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

/// A part of a kernel's name, and the collective that it means.
struct CollectiveName {
  std::string_view part, op;
};

/// Parts in lower case, letters only. The first one that is found counts, so longer names stand before their
/// parts.
constexpr std::array kCollectiveNames{
    CollectiveName{"reducescatter", "reduce_scatter"},
    CollectiveName{"allreduce", "all_reduce"},
    CollectiveName{"allgather", "all_gather"},
    CollectiveName{"alltoall", "alltoall"},
    CollectiveName{"broadcast", "broadcast"},
    CollectiveName{"sendrecv", "sendrecv"},
    CollectiveName{"scatter", "scatter"},
    CollectiveName{"gather", "gather"},
    CollectiveName{"reduce", "reduce"},
    CollectiveName{"send", "sendrecv"},
    CollectiveName{"recv", "sendrecv"},
};

}  // namespace

/// A deque never moves its strings, so the map's views of them stay valid.
std::uint32_t TraceNames::number(std::string_view name) {
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  if (names_.size() == limits_.names || bytes_ + name.size() > limits_.name_bytes)
    throw InputError("the trace has too many different names",
                     "record without with_stack, and fewer steps: active=3 is enough");
  bytes_ += name.size();
  const auto number = static_cast<std::uint32_t>(names_.size());
  numbers_.emplace(names_.emplace_back(name), number);
  return number;
}

bool is_collective_kernel(std::string_view name) {
  const std::string lower = lower_case(name.substr(0, 60));
  return lower.starts_with("nccl") || lower.starts_with("rccl") || lower.starts_with("void nccl") ||
         lower.find("ncclkernel") != std::string::npos || lower.find("nccldevkernel") != std::string::npos;
}

/// The text ends at a bracket: arguments of a kernel may name other collectives.
std::string collective_of(std::string_view name) {
  std::string letters;
  for (const char c : lower_case(name.substr(0, 200))) {
    if (c == '(') break;
    if (c >= 'a' && c <= 'z') letters.push_back(c);
  }
  for (const CollectiveName& row : kCollectiveNames) {
    if (letters.find(row.part) != std::string::npos) return std::string(row.op);
  }
  return "";
}

int element_bytes_of(std::string_view type) {
  const ElementType* row = element_type(type);
  return row == nullptr ? 0 : row->bytes;
}

std::string_view short_type_of(std::string_view type) {
  const ElementType* row = element_type(type);
  return row == nullptr ? std::string_view{} : row->short_name;
}

}  // namespace foretrain
