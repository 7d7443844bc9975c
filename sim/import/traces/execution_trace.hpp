// What was run and on which tensors, without times: PyTorch's execution traces, and Chakra's of them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/traces/trace.hpp"

namespace foretrain {

/// A call of an operator, inside the call `parent`.
struct ExecutionNode {
  std::uint64_t id = 0, parent = 0;
  std::uint32_t name = 0;    ///< of ExecutionTrace::names
  std::uint32_t inputs = 0;  ///< sizes of the tensors among the inputs, "f32[4,3] f32[8,3]", as a name
  std::uint32_t outputs = 0;
  std::uint32_t values = 0;  ///< of all inputs, as they stand in the file, as a name; empty: not kept
  std::int32_t sequence = -1;
  std::uint32_t thread = 0;
  std::uint32_t collective = 0;  ///< 1 + place in `collectives`; 0: none
  std::int64_t duration_us = 0;  ///< Chakra: of a node that was timed
  bool is_backward = false;      ///< issued on behalf of a forward thread
};

/// An execution trace of PyTorch or Chakra: operators in order with their tensors.
struct ExecutionTrace {
  std::string file, schema;  ///< "1.1.0-chakra.0.0.4"
  TraceNames names;
  std::deque<ExecutionNode> nodes;  ///< by number, which is the order of calls
  std::vector<TraceCollective> collectives;
  std::vector<std::string> notes;
  const std::string& text(std::uint32_t name) const { return names.at(name); }
};

/// The sizes of a name such as "f32[4,3] f32[8,3]", each as it stands there.
std::vector<std::string> sizes_in(std::string_view text);
/// Elements of "f32[4,3]": 12; 0 when it is no size.
std::int64_t elements_in(std::string_view size);

}  // namespace foretrain
