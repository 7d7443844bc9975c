// Declares a record of what was run on which tensors, without times: PyTorch's execution traces, and Chakra's
// that are made of them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/traces/trace.hpp"

namespace foretrain {

/// A call of an operator, inside the call `parent`. Texts are stored once in ExecutionTrace::names and given
/// by number.
struct ExecutionNode {
  std::uint64_t id = 0, parent = 0;
  /// Name of the operator.
  std::uint32_t name = 0;
  /// Sizes of the tensors among the inputs, such as "f32[4,3] f32[8,3]".
  std::uint32_t inputs = 0;
  /// Sizes of the tensors among the outputs.
  std::uint32_t outputs = 0;
  /// Values of all inputs as they stand in the file; empty: not kept.
  std::uint32_t values = 0;
  /// Autograd's number, which is the same in forward and backward; -1: none.
  std::int32_t sequence = -1;
  std::uint32_t thread = 0;
  /// 1 + index in `collectives`; 0: none.
  std::uint32_t collective = 0;
  /// Time of a node that was timed (Chakra), in us; 0: not timed.
  std::int64_t duration_us = 0;
  /// Issued on behalf of a forward thread, so it belongs to backward.
  bool is_backward = false;
};

/// An execution trace of PyTorch or Chakra: operators in order, with their tensors.
struct ExecutionTrace {
  /// Name of the file, and version of its schema, such as "1.1.0-chakra.0.0.4".
  std::string file, schema;
  TraceNames names;
  /// Nodes by id, which is the order of the calls.
  std::deque<ExecutionNode> nodes;
  std::vector<TraceCollective> collectives;
  std::vector<std::string> notes;
  const std::string& text(std::uint32_t name) const { return names.at(name); }
};

/// Returns the sizes in a name such as "f32[4,3] f32[8,3]", each as it stands there.
std::vector<std::string> sizes_in(std::string_view text);
/// Returns the elements of a size, 12 for "f32[4,3]", at most 2^40; 0 when the text is no size.
std::int64_t elements_in(std::string_view size);

}  // namespace foretrain
